"""What a recording keeps, what it forwards, and when there is none (H52-H66)."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from tests.e2e import brain
from tests.e2e.scenario import Outcome, Scenario, chat, messages, python
from tests.e2e.upstream import Answer, Cut, Upstream, reply

type New = Callable[..., Scenario]

COMPLETION: dict[str, Any] = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Told."}}],
}
LIMITED = reply({"error": {"message": "slow down", "type": "rate_limit"}}, 429, retry_after_ms="5")


def answers(outcome: Outcome) -> list[Any]:
    return [json.loads(line) for line in outcome.printed.splitlines()]


def script(upstream: Upstream, *replies: Answer) -> None:
    """These answers, in order; the last for ever."""
    left = list(replies)
    upstream.handler = lambda seen: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.parametrize("failure", [LIMITED, reply({}, 503, retry_after_ms="5")])
def test_a_retried_failure_is_no_turn(failure: Answer, scenario: New, upstream: Upstream) -> None:
    """H52, surprise 14: the success is the turn, the failure a note; replay asks once."""
    script(upstream, failure, reply(COMPLETION))
    flow = scenario(python("openai_retries.py", "2"))
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    assert "requests: 2\n" in recorded.printed
    assert len(upstream.seen) == 2
    upstream.stop()
    replayed = flow.run()
    assert (replayed.code, replayed.printed) == (0, "Told.\nrequests: 1\n"), replayed.said
    (turn,) = json.loads(flow.cassette.read_text())["model"]["turns"]
    assert len(turn["attempts"]) == 1


def test_a_retried_failure_is_a_turn_where_the_spec_wants_it(scenario: New, upstream: Upstream) -> None:
    """H52's other half: with `keep_attempts` replay fails first, as the model did, so that the retries are tested."""
    script(upstream, LIMITED, reply(COMPLETION))
    flow = scenario(python("openai_retries.py", "2"), keep_attempts=True)
    recorded = flow.record()
    upstream.stop()
    replayed = flow.run()
    assert (recorded.code, replayed.code) == (0, 0), replayed.said
    assert recorded.printed == replayed.printed == "Told.\nrequests: 2\n"
    assert replayed.flow.counts.turns == 2
    flow.change(agent={"command": python("openai_retries.py", "0")})
    gave_up = flow.run()
    assert (gave_up.code, "model.unserved" in gave_up.ids) == (1, True), gave_up.said


def test_an_answer_that_broke_off_breaks_off_again(scenario: New, upstream: Upstream) -> None:
    """What came before the break was seen by the agent, so it is a turn; its client asks again at replay too."""
    script(upstream, Answer((b'{"id":', Cut.CLOSE), length=99), reply(COMPLETION))
    flow = scenario(python("openai_retries.py", "2"))
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), recorded.said + replayed.said
    assert recorded.printed == replayed.printed == "Told.\nrequests: 2\n"


def test_a_failure_the_agent_was_left_with_is_replayed(planned: New, upstream: Upstream) -> None:
    """H52: nothing succeeded, so the failure is the answer, status and words."""
    script(upstream, LIMITED, reply(COMPLETION))
    flow = planned([chat("first"), chat("second")])
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), recorded.said + replayed.said
    assert [a["status"] for a in answers(recorded)] == [429, 200]
    assert answers(replayed) == answers(recorded)


def test_a_status_is_replayed_as_it_was(planned: New, upstream: Upstream) -> None:
    """H53: no leaking, no normalising."""
    statuses = [201, 400, 402, 404, 418, 422, 451]
    left = iter(statuses)
    upstream.handler = lambda seen: reply({**COMPLETION, "x": seen.json["seed"]}, next(left))
    flow = planned([chat(seed=i) for i in range(len(statuses))])
    recorded, replayed = flow.record(), flow.run()
    assert [a["status"] for a in answers(recorded)] == statuses, recorded.said
    assert answers(replayed) == answers(recorded)


def test_replaying_does_not_touch_the_cassette(once: New, planned: New) -> None:
    """H55, H56: not one byte, not even its time."""
    flow = once(planned([chat()]))
    before, text = flow.cassette.stat(), flow.cassette.read_bytes()
    flow.cassette.chmod(0o444)
    assert flow.run().code == 0
    flow.plan([chat("How is Lagos?")])
    assert flow.run().code == 1
    after = flow.cassette.stat()
    assert (after.st_mtime_ns, after.st_ino, flow.cassette.read_bytes()) == (before.st_mtime_ns, before.st_ino, text)


def test_a_get_that_was_recorded_need_not_be_asked_again(planned: New) -> None:
    """H58: an in-process cache decides whether models are listed; that is no turn missed."""
    flow = planned([{"path": "/v1/models"}, chat()])
    recorded = flow.record()
    assert (recorded.code, recorded.flow.counts.turns, recorded.flow.counts.side_calls) == (0, 1, 1), recorded.said
    assert answers(flow.run()) == answers(recorded)
    flow.plan([chat()])
    assert flow.run().code == 0


def test_a_side_call_that_was_not_recorded_is_not_made_up(once: New, planned: New) -> None:
    """H58's other half: nothing is answered that was never seen."""
    flow = once(planned([chat()]))
    flow.plan([{"path": "/v1/models"}, chat()])
    replayed = flow.run()
    assert (replayed.code, replayed.ids[0]) == (1, "model.divergence"), replayed.said
    assert "/v1/models" in replayed.told


def test_embeddings_are_recorded_replayed_and_compared_like_any_side_call(scenario: New) -> None:
    flow = scenario(python("openai_embeds.py"))
    recorded = flow.record()
    assert (recorded.code, recorded.flow.counts.turns, recorded.flow.counts.side_calls) == (0, 1, 1), recorded.said
    replayed = flow.run()
    assert (replayed.code, replayed.printed) == (0, recorded.printed), replayed.said
    flow.change(agent={"command": python("openai_embeds.py", "another text")})
    changed = flow.run()
    assert (changed.code, changed.ids[0]) == (1, "model.divergence"), changed.said
    assert "/v1/embeddings" in changed.told and "another text" in changed.told


def test_side_calls_are_no_turns(planned: New, upstream: Upstream) -> None:
    """H59, surprise 15: HEAD, count_tokens and event logging around one message."""
    count = {**messages(), "path": "/v1/messages/count_tokens?beta=true"}
    log = {"path": "/api/event_logging/batch", "body": {"events": []}}
    upstream.handler = lambda seen: (
        brain.answer(seen) if "messages" in seen.path else reply({}, 200 if seen.body else 404)
    )
    flow = planned([{"method": "HEAD", "path": "/"}, count, log, messages()])
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), recorded.said + replayed.said
    assert (recorded.flow.counts.turns, replayed.flow.counts.turns) == (1, 1)
    assert answers(replayed) == answers(recorded)
    assert answers(recorded)[0]["status"] == 200


def test_an_agent_that_goes_elsewhere_records_nothing(planned: New, upstream: Upstream) -> None:
    """H60: a hard-coded upstream; no request arrived, so there is no cassette."""
    flow = planned([chat()])
    flow.change(agent={"env": {"PLAN_BASE_URL": upstream.url}})
    recorded = flow.record()
    assert (recorded.code, recorded.flow.verdict) == (2, "error"), recorded.said
    assert "no model request" in recorded.told.lower() or "0 model requests" in recorded.told.lower()
    assert not flow.cassette.exists()


def test_no_cassette_no_verdict(planned: New, upstream: Upstream) -> None:
    """H105: a missing cassette is an error of its own kind, never a pass, and nothing is started."""
    flow = planned([chat()])
    replayed = flow.run()
    assert (replayed.code, replayed.flow.verdict) == (2, "error"), replayed.said
    assert "flowproof record" in replayed.told
    assert upstream.seen == []


def test_prefix_and_headers_reach_the_upstream(planned: New, upstream: Upstream) -> None:
    """H61: path prefix, query and the agent's headers; hop-by-hop and the placeholder key not."""
    headers = {
        "X-Tenant": "t-7",
        "Authorization": "Bearer placeholder",
        "Connection": "keep-alive, X-Hop",
        "X-Hop": "1",
    }
    flow = planned([{**chat(), "path": "/v1/chat/completions?api-version=9", "headers": headers}])
    recorded = flow.record(FLOWPROOF_AGENT_UPSTREAM=f"{upstream.url}/llm/v1", FLOWPROOF_AGENT_KEY="sk-real-12345")
    assert recorded.code == 0, recorded.said
    (seen,) = upstream.seen
    assert seen.target == "/llm/v1/chat/completions?api-version=9"
    assert (seen.header("x-tenant"), seen.header("authorization")) == ("t-7", "Bearer sk-real-12345")
    assert (seen.header("x-hop"), seen.header("proxy-connection")) == (None, None)
    assert seen.header("host") == upstream.url.removeprefix("http://")
    assert seen.body == json.dumps(chat()["body"]).encode()


def test_a_proxy_in_the_shell_leaves_no_trace(scenario: New, upstream: Upstream) -> None:
    """H62: the agent talks to loopback directly; the cassette knows nothing of the proxy."""
    proxy = {name: "http://127.0.0.1:9" for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")}
    flow = scenario(python("openai_chat.py"))
    recorded = flow.record(**proxy, NO_PROXY="127.0.0.1")
    assert recorded.code == 0, recorded.said
    assert "127.0.0.1:9" not in flow.cassette.read_text()
    assert flow.run(**proxy).code == 0


def test_an_upgrade_to_websockets_is_declined_and_is_no_turn(planned: New) -> None:
    """H64: 426 makes clients fall back to HTTP at once, at both legs."""
    headers = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "eA==",
    }
    upgrade = {"method": "GET", "path": "/v1/responses", "headers": headers}
    flow = planned([upgrade, {"path": "/v1/responses", "body": {"model": "m", "input": "hi"}}])
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), recorded.said + replayed.said
    assert [[a["status"] for a in answers(leg)] for leg in (recorded, replayed)] == [[426, 200], [426, 200]]
    assert replayed.flow.counts.turns == 1


def test_huge_bodies_are_kept_once_and_diffed_readably(once: New, planned: New, upstream: Upstream) -> None:
    """H66: a 10 MB prompt and a 5 MB picture, twice in the conversation."""
    picture = base64.b64encode(bytes(range(256)) * 15_000).decode()
    parts = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}}]
    history = [{"role": "user", "content": parts}, {"role": "user", "content": "word " * 2_000_000}]
    first = chat(messages=history)
    second = chat(messages=[*history, {"role": "user", "content": "And now?"}])
    flow = once(planned([first, second]))
    size = sum(path.stat().st_size for path in flow.folder.rglob("*.trace*"))
    assert size < 17_000_000
    replayed = flow.run()
    assert replayed.code == 0, replayed.said
    flow.plan([first, chat(messages=[*history, {"role": "user", "content": "And then?"}])])
    replayed = flow.run()
    assert (replayed.code, replayed.ids[0]) == (1, "model.divergence")
    assert len(replayed.told) < 10_000
    assert "now" in replayed.told and "then" in replayed.told


def test_nothing_is_written_when_an_assertion_fails_at_record(planned: New) -> None:
    """A cassette that its own spec calls wrong is never committed by accident."""
    flow = planned([chat()], ["assert: reply contains Nothing of the kind"])
    recorded = flow.record()
    assert (recorded.code, recorded.flow.verdict) == (1, "fail"), recorded.said
    assert not flow.cassette.exists()


def test_a_failed_recording_leaves_the_old_cassette(planned: New, upstream: Upstream) -> None:
    flow = planned([chat()])
    assert flow.record().code == 0
    before = flow.cassette.read_bytes()
    upstream.stop()
    recorded = flow.record()
    assert recorded.code == 2, recorded.said
    assert flow.cassette.read_bytes() == before


def test_an_upstream_that_is_not_there_is_an_error_of_the_machine(planned: New, upstream: Upstream) -> None:
    """Unreachable upstream: one message, no cassette, exit 2."""
    flow = planned([chat()])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    recorded = flow.record(FLOWPROOF_AGENT_UPSTREAM=f"http://127.0.0.1:{port}")
    assert (recorded.code, recorded.flow.verdict) == (2, "error"), recorded.said
    assert f"127.0.0.1:{port}" in recorded.told
    assert not flow.cassette.exists()
