"""`assert_no_secret_leak` as people meet it: what crossed the boundary or was printed is critical, not repeated."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from urllib.parse import quote

from tests.e2e.scenario import Outcome, Scenario
from tests.e2e.upstream import Answer, Seen, Upstream, reply, sse, stream

type New = Callable[..., Scenario]

SECRET = 's3cret/"quoted" & more'
STEP = "assert_no_secret_leak: ${API_TOKEN}"
AGENT = """
import json, os, sys, urllib.error, urllib.request
def ask(path, body, **headers):
    headers = {"content-type": "application/json", "authorization": "Bearer x", **headers}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + path, json.dumps(body).encode(), headers)
    return urllib.request.urlopen(request).read().decode()
def chat(text, **more):
    return ask("/chat/completions", {"model": "m", "messages": [{"role": "user", "content": text}], **more})
for text in json.load(open("told.json")):
    if text.startswith("print "):
        print(text.removeprefix("print "))
    elif text.startswith("embed "):
        ask("/embeddings", {"model": "m", "input": text})
    else:
        chat(text, **({"stream": True} if text == "stream" else {}))
"""


def upstream_answer(seen: Seen) -> Answer:
    if seen.path.endswith("/embeddings"):
        return reply({"object": "list", "data": [], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}})
    base = {"id": "c", "created": 1, "model": "m"}
    if not seen.json.get("stream"):
        message = {"role": "assistant", "content": "Told."}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return reply({**base, "object": "chat.completion", "choices": [choice]})
    pieces = [*(SECRET[at : at + 5] for at in range(0, len(SECRET), 5)), " Told."]
    deltas = [{"index": 0, "delta": {"content": piece}, "finish_reason": None} for piece in pieces]
    ends = {"index": 0, "delta": {}, "finish_reason": "stop"}
    return stream(sse(*({**base, "object": "chat.completion.chunk", "choices": [one]} for one in (*deltas, ends))))


def telling(scenario: New, upstream: Upstream, *texts: str) -> Scenario:
    upstream.handler = upstream_answer
    flow = scenario([sys.executable, "agent.py"], [STEP])
    (flow.folder / "agent.py").write_text(AGENT)
    (flow.folder / "told.json").write_text(json.dumps(texts))
    return flow


def kept(flow: Scenario, done: Outcome) -> str:
    """All that was written and said, but what the test itself wrote."""
    files = [p for p in flow.folder.rglob("*") if p.is_file() and p.name != "told.json"]
    return "\n".join([*(p.read_bytes().decode("utf-8", "replace") for p in files), done.said])


def spelt(secret: str) -> list[str]:
    encoded = [base64.b64encode(b"x" * ahead + secret.encode() + b"y").decode() for ahead in range(3)]
    return [secret, json.dumps(secret), quote(secret, safe=""), secret.encode().hex(), *encoded]


def test_every_leak_of_a_recording_is_named_by_its_place_and_nothing_is_written(
    scenario: New, upstream: Upstream
) -> None:
    forms = spelt(SECRET)
    flow = telling(scenario, upstream, *forms, f"embed {SECRET}", "stream", f"print {forms[4]}")
    done = flow.record(API_TOKEN=SECRET)
    assert (done.code, set(done.ids)) == (3, {"secret.leaked"}), done.said
    assert not flow.cassette.exists()
    places = [found.message.partition(": ")[2] or found.message for found in done.findings]
    assert places[:7] == [f"turn {number}, request.messages[0].content" for number in range(1, 8)]
    assert "side call 1: request.input" in "\n".join(places)
    assert any(place.startswith("turn 8, reply") for place in places)
    assert places[-1] == "the value of API_TOKEN was printed by the agent on its stdout"
    everything = kept(flow, done)
    assert "API_TOKEN" in everything
    assert [form for form in forms if form in everything or json.dumps(form)[1:-1] in everything] == []


def test_a_run_that_leaks_nothing_is_recorded_and_one_that_prints_it_later_is_critical(
    scenario: New, upstream: Upstream
) -> None:
    flow = telling(scenario, upstream, "How is Nairobi?")
    recorded = flow.record(API_TOKEN=SECRET)
    assert (recorded.code, recorded.ids) == (0, []), recorded.said
    assert flow.run(API_TOKEN=SECRET).code == 0
    (flow.folder / "told.json").write_text(json.dumps(["How is Nairobi?", f"print {SECRET}"]))
    printed = flow.run(API_TOKEN=SECRET)
    assert (printed.code, printed.ids) == (3, ["secret.leaked"]), printed.said
    assert SECRET not in kept(flow, printed)


def test_a_secret_that_cannot_be_looked_for_is_a_problem(scenario: New, upstream: Upstream) -> None:
    flow = telling(scenario, upstream, "How is Nairobi?")
    assert flow.record(API_TOKEN=SECRET).code == 0
    short = flow.run(API_TOKEN="short12")
    assert (short.code, short.ids) == (2, ["secret.too_short"]), short.said
    assert "fewer than 8 characters" in short.findings[0].message and "short12" not in kept(flow, short)
    unset = flow.run()
    assert unset.code == 2 and "API_TOKEN" in unset.said, unset.said
