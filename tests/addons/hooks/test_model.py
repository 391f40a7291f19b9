"""A request on its way through the hooks: forwarded at record, answered at replay."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mitmproxy import http
from mitmproxy.connection import Server
from mitmproxy.flow import Error

from flowproof_addons.dialects.registry import default
from flowproof_addons.hooks.crossing import Sessions
from flowproof_addons.hooks.gate import Gate
from flowproof_addons.hooks.model import Model
from flowproof_addons.hooks.substitute import Substitute
from flowproof_addons.hooks.tracer import Tracer
from flowproof_addons.live.crossing import AFTER
from flowproof_addons.live.progress import Live
from flowproof_addons.session import Upstream
from flowproof_addons.trace import journal
from flowproof_addons.trace.model import Exchange, JsonBody, JsonValue, Reply, Request

ASKED: dict[str, JsonValue] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
SAID: dict[str, JsonValue] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
RECORDED = Exchange(
    Request("POST", "/v1/chat/completions", "", JsonBody(dict(ASKED))), Reply(200, JsonBody(SAID)), "openai-chat"
)
KEYED = {"*": Upstream(url="https://api.example/llm/v1", key="real-key")}


def crossing(sessions: Sessions, flow: http.HTTPFlow) -> None:
    """The request hooks, in the suite's order."""

    async def hooks() -> None:
        for hook in (Gate(sessions, default()), Substitute(), Model()):
            await hook.request(flow)

    asyncio.run(hooks())


def answered(flow: http.HTTPFlow, response: http.Response) -> None:
    flow.response = response

    async def hooks() -> None:
        await Tracer().responseheaders(flow)
        if callable(response.stream):
            response.stream(response.raw_content or b"")
            response.stream(b"")
        await Tracer().response(flow)

    asyncio.run(hooks())


def written(live: Live) -> tuple[Exchange, ...]:
    live.close()
    return journal.read(live.session.folder / "trace.jsonl")


def ask(make_flow: Any, body: dict[str, JsonValue] = ASKED, **more: Any) -> http.HTTPFlow:
    flow: http.HTTPFlow = make_flow(body=json.dumps(body).encode(), **more)
    return flow


def test_an_equal_request_is_answered_with_the_recording(sessions: Sessions, make_live: Any, make_flow: Any) -> None:
    live = sessions[4711] = make_live(recorded=(RECORDED,))
    flow = ask(make_flow)
    crossing(sessions, flow)
    assert flow.response is not None
    assert json.loads(flow.response.content or b"") == SAID
    assert live.close()["unserved"] == []


def test_a_streaming_client_is_served_the_recording_as_a_stream(
    sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    sessions[4711] = make_live(recorded=(RECORDED,))
    flow = ask(make_flow, {**ASKED, "stream": True})
    crossing(sessions, flow)
    assert flow.response is not None
    assert flow.response.headers["content-type"].startswith("text/event-stream")
    assert b"data: [DONE]" in (flow.response.content or b"")


def test_a_changed_request_diverges_once_and_everything_after_is_refused_without_a_new_finding(
    sessions: Sessions, make_live: Any, make_flow: Any, heard: Any
) -> None:
    live = sessions[4711] = make_live(recorded=(RECORDED,))
    first, second = ask(make_flow, {**ASKED, "temperature": 1}), ask(make_flow)
    crossing(sessions, first)
    crossing(sessions, second)
    assert first.response is not None and second.response is not None
    assert (first.response.status_code, first.response.headers["x-should-retry"]) == (400, "false")
    assert AFTER in (second.response.get_text() or "")
    assert heard.kinds() == ["turn", "divergence", "turn"]
    assert len(live.divergences) == 1


@pytest.mark.parametrize("key", ["", "real-key"])
def test_record_forwards_the_agents_own_bytes_with_only_the_key_changed(
    key: str, sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    sessions[4711] = make_live("record", upstreams={"*": Upstream(url="https://api.example/llm/v1", key=key)})
    body = b'{ "model":"m",  "messages": [] , "x": 1.00}'
    headers = {"authorization": "Bearer placeholder", "x-tenant": "t", "proxy-connection": "keep-alive"}
    flow = make_flow(body=body, path="/v1/chat/completions?a=1&a=2", headers=headers)
    crossing(sessions, flow)
    request = flow.request
    assert (request.scheme, request.host, request.port) == ("https", "api.example", 443)
    assert (request.path, request.raw_content) == ("/llm/v1/chat/completions?a=1&a=2", body)
    assert request.headers["authorization"] == f"Bearer {key or 'placeholder'}"
    assert request.headers["x-tenant"] == "t"
    assert request.headers["host"] == "api.example"
    assert "proxy-connection" not in request.headers
    assert flow.response is None


def test_a_recording_without_an_upstream_says_which_variable_to_set(
    sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    live = sessions[4711] = make_live("record")
    flow = ask(make_flow)
    crossing(sessions, flow)
    assert flow.response is not None and flow.response.status_code == 400
    assert "FLOWPROOF_AGENT_UPSTREAM" in live.problems[0]


def test_the_specs_result_is_what_the_model_is_told_and_what_is_kept(
    sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    live = sessions[4711] = make_live("record", upstreams=KEYED, results={"look": {"fixed": True}})
    call: JsonValue = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    history: list[JsonValue] = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "volatile 12:00:01"},
    ]
    flow = ask(make_flow, {"model": "m", "messages": history})
    crossing(sessions, flow)
    assert json.loads(flow.request.content or b"")["messages"][2]["content"] == '{"fixed":true}'
    answered(flow, http.Response.make(200, json.dumps(SAID), {"content-type": "application/json"}))
    (kept,) = written(live)
    assert isinstance(kept.request.body, JsonBody)
    assert "volatile" not in repr(kept.request.body)


def test_a_stream_is_relayed_teed_and_kept_with_its_frames(sessions: Sessions, make_live: Any, make_flow: Any) -> None:
    live = sessions[4711] = make_live("record", upstreams=KEYED)
    flow = ask(make_flow, {**ASKED, "stream": True})
    crossing(sessions, flow)
    chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "hi"}}]}
    wire = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    answered(flow, http.Response.make(200, wire, {"content-type": "text/event-stream"}))
    (kept,) = written(live)
    assert b"".join(kept.reply.frames or ()) == wire
    assert isinstance(kept.reply.body, JsonBody)


def test_a_client_that_hangs_up_after_the_end_of_a_stream_loses_nothing(
    sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    live = sessions[4711] = make_live("record", upstreams=KEYED)
    flow = ask(make_flow, {**ASKED, "stream": True})
    crossing(sessions, flow)
    flow.response = http.Response.make(200, b"", {"content-type": "text/event-stream"})
    asyncio.run(Tracer().responseheaders(flow))
    flow.response.stream(b'data: {"id":"c","choices":[]}\n\ndata: [DONE]\n\n')  # type: ignore[operator]
    asyncio.run(Tracer().error(flow))
    (kept,) = written(live)
    assert kept.reply.cut is False


def test_a_stream_cut_before_its_end_is_kept_as_a_cut(sessions: Sessions, make_live: Any, make_flow: Any) -> None:
    live = sessions[4711] = make_live("record", upstreams=KEYED)
    flow = ask(make_flow, {**ASKED, "stream": True})
    crossing(sessions, flow)
    flow.response = http.Response.make(200, b"", {"content-type": "text/event-stream"})
    asyncio.run(Tracer().responseheaders(flow))
    flow.response.stream(b'data: {"id":"c","choices":[]}\n\n')  # type: ignore[operator]
    asyncio.run(Tracer().error(flow))
    (kept,) = written(live)
    assert kept.reply.cut is True


def test_an_upstream_that_cannot_be_reached_is_a_problem_that_names_it(
    sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    live = sessions[4711] = make_live("record", upstreams=KEYED)
    flow = ask(make_flow)
    crossing(sessions, flow)
    flow.server_conn = Server(address=("api.example", 443))
    flow.server_conn.error = "refused"
    flow.error = Error("Connection refused")
    asyncio.run(Tracer().error(flow))
    assert "https://api.example:443" in live.problems[0]
    assert written(live) == ()


def test_overlapping_calls_are_kept_in_the_order_they_arrived(
    sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    live = sessions[4711] = make_live("record", upstreams=KEYED)
    first, second = ask(make_flow, {**ASKED, "n": 1}), ask(make_flow, {**ASKED, "n": 2})
    crossing(sessions, first)
    crossing(sessions, second)
    for flow in (second, first):
        answered(flow, http.Response.make(200, json.dumps(SAID), {"content-type": "application/json"}))
    assert [e.request.body.value["n"] for e in written(live)] == [1, 2]  # type: ignore[union-attr, index, call-overload]
