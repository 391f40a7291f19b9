"""No credential reaches the disk, the agent, an error text or a report (H71-H78, surprise 7)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from tests.e2e.scenario import Scenario, chat, everywhere, python
from tests.e2e.upstream import Upstream, reply

type New = Callable[..., Scenario]

KEY = "sk-real-0123456789abcdefghij"
HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "xi-api-key", "cookie", "proxy-authorization")
COMPLETION = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Told."}}],
}


PLAN = "flow.json"
"""The agent's own request plan, which has the value in it."""


@pytest.mark.parametrize("variable", ["FLOWPROOF_AGENT_KEY", "OPENAI_API_KEY"])
def test_the_upstreams_key_is_on_the_wire_and_nowhere_else(variable: str, scenario: New, upstream: Upstream) -> None:
    """H71: not in the agent's environment, not on disk, not in a word that was printed."""
    flow = scenario(python("tells_environment.py"))
    recorded = flow.record(**{variable: KEY})
    assert recorded.code == 0, recorded.said
    assert upstream.seen[0].header("authorization") == f"Bearer {KEY}"
    assert KEY not in everywhere(flow, recorded, PLAN)
    assert "OPENAI_API_KEY" in recorded.printed


def test_credential_headers_of_the_agent_are_not_kept(planned: New) -> None:
    """H71, H73: an allow-list of stored headers; one registry for all."""
    flow = planned([{**chat(header), "headers": {header: KEY, "x-custom": KEY}} for header in HEADERS])
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    assert recorded.flow.counts.turns == len(HEADERS)
    assert KEY not in everywhere(flow, recorded, PLAN)


def test_credential_headers_of_the_upstream_are_not_kept(planned: New, upstream: Upstream) -> None:
    upstream.handler = lambda seen: reply(COMPLETION, set_cookie=f"session={KEY}", x_api_key=KEY)
    flow = planned([chat()])
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    assert KEY not in everywhere(flow, recorded, PLAN)


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FORMS: tuple[Callable[[str], str], ...] = (str, json.dumps, in_base64, quote)


@pytest.mark.parametrize("value", ['p"a\\ss/wörd 1', "line one\nline two", KEY])
def test_a_declared_secret_never_reaches_the_disk(value: str, planned: New, upstream: Upstream) -> None:
    """Surprise 7: quotes, backslashes and encodings hide nothing; the agent is served what it was sent (H78)."""
    completions = [_completion(f"Told {form(value)}.") for form in FORMS]
    left = iter(completions)
    upstream.handler = lambda seen: reply(next(left))
    flow = planned([chat(f"Use {form(value)}") for form in FORMS], redact={"values": ["${DB_PASSWORD}"]})
    recorded = flow.record(DB_PASSWORD=value)
    assert recorded.code == 0, recorded.said
    kept = everywhere(flow, recorded, PLAN, "stdout.txt")
    for form in FORMS:
        for written in (form(value), json.dumps(form(value))[1:-1]):
            assert written not in kept
    replayed = flow.run(DB_PASSWORD=value)
    assert replayed.code == 0, replayed.said
    sent = [hashlib.sha256(json.dumps(c, ensure_ascii=False).encode()).hexdigest() for c in completions]
    for leg in (recorded, replayed):
        assert [json.loads(line)["sha256"] for line in leg.printed.splitlines()] == sent


def _completion(words: str) -> dict[str, object]:
    message = {"role": "assistant", "content": words}
    return {**COMPLETION, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}


def test_a_miss_does_not_print_the_secret_it_missed_on(planned: New) -> None:
    """H30, H74: the difference is told, the value is not."""
    flow = planned([chat("The key is old-0123456789abcdef.")], redact={"values": ["${TOKEN}"]})
    assert flow.record(TOKEN=KEY).code == 0
    flow.plan([chat(f"The key is {KEY}.")])
    replayed = flow.run(TOKEN=KEY)
    assert (replayed.code, replayed.ids[0]) == (1, "model.divergence"), replayed.said
    assert KEY not in everywhere(flow, replayed, PLAN)


def test_a_key_in_an_upstream_address_is_refused(planned: New, upstream: Upstream) -> None:
    flow = planned([chat()])
    outcome = flow.record(FLOWPROOF_AGENT_UPSTREAM=f"http://user:{KEY}@127.0.0.1:{upstream.port}")
    assert outcome.code == 2
    assert KEY not in everywhere(flow, outcome, PLAN)


def test_an_upstream_that_echoes_the_key_does_not_put_it_on_disk(planned: New, upstream: Upstream) -> None:
    """`Incorrect API key provided: sk-…` comes back in error bodies."""
    upstream.handler = lambda seen: reply({"error": {"message": f"Incorrect API key: {KEY}", "type": "auth"}}, 401)
    flow = planned([chat()], ["assert_no_tool_call: anything"])
    recorded = flow.record(FLOWPROOF_AGENT_KEY=KEY)
    assert KEY not in everywhere(flow, recorded, PLAN, "stdout.txt")
