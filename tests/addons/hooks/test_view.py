"""What people see of a flow, live and loaded."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator
from typing import Any

import pytest
from mitmproxy import contentviews, http
from mitmproxy.addons import view as mitmview
from mitmproxy.contentviews import prettify_message
from mitmproxy.contentviews._registry import ContentviewRegistry
from mitmproxy.test import taddons, tflow

from flowproof_addons.dialects.registry import assembled
from flowproof_addons.hooks.crossing import Sessions, attach, of
from flowproof_addons.hooks.facts import Facts, facts_of, note
from flowproof_addons.hooks.gate import Gate
from flowproof_addons.hooks.model import Model
from flowproof_addons.hooks.tracer import Tracer
from flowproof_addons.hooks.view import Annotator, ConversationView, McpView
from flowproof_addons.live.crossing import Crossing
from flowproof_addons.session import Upstream
from flowproof_addons.trace.model import Exchange, JsonBody, Reply, Request

PORT = 4711
REGISTRY = assembled(())
BODY = b'{"model":"m","messages":[{"role":"user","content":"Hello"}]}'
ANSWER = b'{"model":"m","choices":[{"message":{"role":"assistant","content":"Hi."}}]}'
STREAM = b'data: {"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi."}}]}\n\ndata: [DONE]\n\n'


@pytest.fixture
def views() -> Iterator[ContentviewRegistry]:
    """mitmproxy's views and ours; making metadata reads options, so a master is there."""
    registry = ContentviewRegistry()
    for known in contentviews.registry.values():
        registry.register(known)
    registry.register(ConversationView(REGISTRY))
    registry.register(McpView())
    with taddons.context():
        yield registry


@pytest.fixture
def watched() -> Iterator[taddons.context]:
    """A master in which somebody looks, as mitmweb's."""
    with taddons.context(mitmview.View()) as context:
        yield context


@pytest.fixture
def unwatched() -> Iterator[taddons.context]:
    with taddons.context() as context:
        yield context


def flow_of(path: str, sent: bytes, got: bytes, kind: str = "application/json", status: int = 200) -> http.HTTPFlow:
    flow = tflow.tflow()
    flow.request = http.Request.make("POST", f"http://127.0.0.1{path}", sent, typed("application/json"))
    flow.response = http.Response.make(status, got, typed(kind))
    return flow


def typed(kind: str) -> http.Headers:
    return http.Headers(content_type=kind)


def shown(views: ContentviewRegistry, flow: http.HTTPFlow, side: str) -> tuple[str | None, str]:
    found = prettify_message(getattr(flow, side), flow, registry=views)
    return found.view_name, found.text


def test_any_flow_to_a_known_api_is_shown_as_a_conversation(views: ContentviewRegistry) -> None:
    flow = flow_of("/v1/chat/completions", BODY, ANSWER)
    assert shown(views, flow, "request") == ("Conversation", "# openai-chat · m\n\nuser: |\n  Hello\n")
    assert shown(views, flow, "response") == ("Conversation", "# status 200 · m\n\nassistant: |\n  Hi.\n")


def test_a_stream_is_shown_as_what_it_adds_up_to(views: ContentviewRegistry) -> None:
    flow = flow_of("/v1/chat/completions", BODY, STREAM, "text/event-stream")
    assert shown(views, flow, "response") == ("Conversation", "# status 200 · m\n\nassistant: |\n  Hi.\n")


def test_compressed_messages_are_shown_too(views: ContentviewRegistry) -> None:
    flow = flow_of("/v1/chat/completions", BODY, ANSWER)
    flow.request.encode("gzip")
    assert flow.response is not None
    flow.response.encode("br")
    assert "Hello" in shown(views, flow, "request")[1]
    assert "Hi." in shown(views, flow, "response")[1]


def test_other_flows_keep_mitmproxys_views(views: ContentviewRegistry) -> None:
    flow = flow_of("/v1/models", b"{}", b'{"data":[]}')
    assert shown(views, flow, "response")[0] == "JSON"
    assert shown(views, flow_of("/other/mcp", b"not json-rpc", b"x", "text/plain"), "request")[0] != "MCP"


@pytest.mark.parametrize("body", [b"", b"not json", b'{"messages": 7}', b"\xff\x00", b'{"a":1,"a":2}'])
def test_no_body_breaks_a_view(views: ContentviewRegistry, body: bytes) -> None:
    for path in ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/mcp"):
        for kind in ("application/json", "text/event-stream"):
            flow = flow_of(path, body, body, kind, 500)
            for side in ("request", "response"):
                found = prettify_message(getattr(flow, side), flow, registry=views)
                assert found.description in ("", "[failed to parse as JSON]")  # the latter is mitmproxy's own


def test_a_request_nobody_understands_is_shown_as_it_is(views: ContentviewRegistry) -> None:
    assert shown(views, flow_of("/v1/messages", b"not json", b""), "request")[1] == "# anthropic-messages\n\nnot json\n"
    odd = flow_of("/v1/messages", b'{"messages": 7, "x": [1]}', b"")
    assert shown(views, odd, "request")[1] == "# anthropic-messages\n\nmessages: 7\nx:\n  - 1\n"


def test_mcp_is_shown_in_both_of_its_forms(views: ContentviewRegistry) -> None:
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"x"}}}'
    result = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"found"}]}}'
    plain, streamed = flow_of("/mcp", call, result), flow_of("/mcp", call, b"data: " + result, "text/event-stream")
    assert shown(views, plain, "request") == ("MCP", "tools/call read:\n  path: x\n")
    assert shown(views, plain, "response") == shown(views, streamed, "response") == ("MCP", "result: found\n")


def crossed(flow: http.HTTPFlow, live: Any, exchange: Exchange | None, turn: int | None = 2) -> None:
    dialect = REGISTRY.find("POST", flow.request.path)
    crossing = Crossing(live, Request("POST", flow.request.path, "", JsonBody({})), dialect, turn=turn)
    crossing.exchange = exchange
    attach(flow, crossing)


def replied(**more: Any) -> Exchange:
    body = JsonBody({"choices": [{"message": {"content": "Hi."}}]})
    return Exchange(Request("POST", "/", "", JsonBody({})), Reply(200, body), "openai-chat", **more)


def annotator() -> Annotator:
    return Annotator(REGISTRY, lambda port: "fs" if port == 9 else "")


def test_a_turn_gets_its_line_and_its_facts(make_live: Any, watched: object) -> None:
    flow = flow_of("/v1/chat/completions", BODY, ANSWER)
    crossed(flow, make_live(), replied(equality="rules", rules=("today",)))
    annotator().response(flow)
    assert flow.comment == 's · turn 2 · openai-chat · "Hi."'
    assert facts_of(flow) == Facts("openai-chat", 2, "rules", ("today",))
    assert flow.marked == ""


def test_a_divergence_is_marked(make_live: Any, watched: object) -> None:
    flow = flow_of("/v1/chat/completions", BODY, b"{}", status=400)
    crossed(flow, make_live(), replied(divergence={"message": "turn 2: it differs"}))
    annotator().response(flow)
    assert (flow.marked, flow.comment) == (":red_circle:", "s · ✗ diverged · turn 2: it differs")


def test_what_flowproof_answered_by_itself_is_said(make_live: Any, watched: object) -> None:
    flow = flow_of("/v1/chat/completions", BODY, b"{}", status=400)
    crossed(flow, make_live(), None)
    annotator().response(flow)
    assert flow.comment == "s · ✗ answered by flowproof"


def test_an_mcp_request_gets_its_line_when_it_arrives(watched: object) -> None:
    flow = flow_of("/mcp", b'{"id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"x"}}}', b"")
    flow.live, flow.client_conn.sockname = True, ("127.0.0.1", 9)
    annotator().request(flow)
    assert flow.comment == "mcp fs · read(path: x)"
    assert facts_of(flow) == Facts(server="fs")


def test_nothing_is_done_where_nobody_looks(make_live: Any, unwatched: object) -> None:
    flow = flow_of("/v1/chat/completions", BODY, ANSWER)
    crossed(flow, make_live(), replied())
    annotator().response(flow)
    assert (flow.comment, flow.metadata) == ("", {})


def test_keys_are_hidden_once_the_request_is_sent(make_live: Any, watched: object) -> None:
    flow = flow_of("/v1/chat/completions", BODY, ANSWER)
    flow.request.headers["Authorization"] = flow.request.headers["x-api-key"] = "sk-secret"
    crossed(flow, make_live("record"), replied())
    annotator().error(flow)
    assert "sk-secret" not in str(flow.request.headers.items())
    assert flow.request.headers["content-type"] == "application/json"


def test_a_flow_that_crosses_can_be_copied_and_saved(make_live: Any, watched: object) -> None:
    """mitmproxy deep-copies what it saves; a live session cannot be copied."""
    flow = flow_of("/v1/chat/completions", BODY, ANSWER)
    crossed(flow, make_live(), replied())
    annotator().response(flow)
    copied = http.HTTPFlow.from_state(copy.deepcopy(flow.get_state()))
    assert isinstance(copied, http.HTTPFlow)
    assert of(flow) is not None and of(copied) is None
    assert facts_of(copied) == facts_of(flow)


@pytest.mark.parametrize("noted", [None, "text", {"turn": "x", "equality": "maybe", "rules": 7, "divergence": []}])
def test_facts_of_strangers_are_no_facts(noted: object) -> None:
    flow = tflow.tflow()
    flow.metadata["flowproof"] = noted
    assert facts_of(flow) == Facts()


def test_facts_survive_the_flow() -> None:
    facts = Facts("openai-chat", 2, "json", ("a",), {"message": "x"}, "fs", "refused")
    flow = tflow.tflow()
    note(flow, facts)
    assert facts_of(flow) == facts


def test_a_turn_is_numbered_by_its_arrival(make_live: Any, make_flow: Any, sessions: Sessions, watched: object) -> None:
    live = sessions[PORT] = make_live("record", upstreams={"*": Upstream(url="http://127.0.0.1:1")})
    gate, model, tracer, last = Gate(sessions, REGISTRY), Model(), Tracer(), annotator()
    flows = [make_flow(), make_flow(path="/v1/models", body=b"{}"), make_flow()]
    for flow in flows:
        asyncio.run(gate.request(flow))
        asyncio.run(model.request(flow))
    for flow in reversed(flows):
        flow.response = http.Response.make(200, ANSWER, typed("application/json"))
        asyncio.run(tracer.response(flow))
        last.response(flow)
    assert [flow.comment for flow in flows] == [
        's · turn 1 · openai-chat · "Hi."',
        "s · side call",
        's · turn 2 · openai-chat · "Hi."',
    ]
    assert live.turns == 2
