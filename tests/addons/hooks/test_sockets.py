"""Turns over a WebSocket: the messages of both sides as exchanges, and exchanges as messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mitmproxy import http
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.test import taddons
from mitmproxy.websocket import WebSocketData, WebSocketMessage
from wsproto.frame_protocol import Opcode

from flowproof_addons.dialects.openai_responses import OpenAIResponses
from flowproof_addons.dialects.registry import default
from flowproof_addons.hooks.crossing import Sessions
from flowproof_addons.hooks.gate import Gate
from flowproof_addons.hooks.sockets import Sockets
from flowproof_addons.hooks.wall import Wall
from flowproof_addons.live.crossing import ABANDONED, AFTER
from flowproof_addons.live.line import Line
from flowproof_addons.live.progress import Live
from flowproof_addons.session import Upstream
from flowproof_addons.trace import journal
from flowproof_addons.trace.model import BytesBody, Exchange, JsonBody, JsonValue, Reply, Request

type Object = dict[str, JsonValue]

UPGRADE = {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-version": "13", "authorization": "Bearer x"}
OPENING = Request("GET", "/v1/responses", "", BytesBody(b""), {"user-agent": "sdk"})
ASKED: Object = {"model": "m", "input": "hello", "store": False}
CREATE = json.dumps({"type": "response.create", **ASKED})
SAID: Object = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": []}
EVENTS = (
    json.dumps({"type": "response.created", "response": {**SAID, "status": "in_progress"}, "sequence_number": 0}),
    json.dumps({"type": "response.completed", "response": SAID, "sequence_number": 1}),
)
FRAMES = tuple(f"event: {json.loads(event)['type']}\ndata: {event}\n\n".encode() for event in EVENTS)
STREAMED = Reply(200, JsonBody(SAID), {"content-type": "text/event-stream; charset=utf-8"}, FRAMES)


def recorded(reply: Reply, asked: Object | None = None) -> Exchange:
    return Exchange(Request("POST", "/v1/responses", "", JsonBody(dict(asked or ASKED))), reply, "openai-responses")


def line(live: Live) -> Line:
    return Line(live, OpenAIResponses(), OPENING)


def kept(folder: Path) -> list[Exchange]:
    return list(journal.read(folder / "trace.jsonl"))


type MakeLive = Callable[..., Live]
type MakeFlow = Callable[..., http.HTTPFlow]


def test_a_turn_is_kept_as_it_would_be_over_http(make_live: MakeLive, tmp_path: Path) -> None:
    socket = line(make_live("record"))
    assert socket.asked(CREATE).forward == CREATE
    assert socket.told(EVENTS[0]) is None
    assert socket.told(EVENTS[1]) is not None
    [turn] = kept(tmp_path)
    assert (turn.request.method, turn.request.path, turn.request.body) == ("POST", "/v1/responses", JsonBody(ASKED))
    assert turn.request.headers == {"content-type": "application/json", "user-agent": "sdk"}
    assert (turn.dialect, turn.reply) == ("openai-responses", STREAMED)


@pytest.mark.parametrize(
    ("reply", "events"),
    [
        (STREAMED, [json.loads(event) for event in EVENTS]),
        (
            Reply(400, JsonBody({"error": {"message": "no"}})),
            [{"type": "error", "status": 400, "error": {"message": "no"}}],
        ),
        (Reply(500, BytesBody(b"oops")), [{"type": "error", "status": 500, "error": {"message": "oops"}}]),
    ],
    ids=["stream", "error", "error that is no JSON"],
)
def test_a_recording_is_told_as_events(make_live: MakeLive, reply: Reply, events: list[Object]) -> None:
    step = line(make_live("replay", (recorded(reply),))).asked(CREATE)
    assert step.forward is None
    assert [json.loads(event) for event in step.events] == events


def test_a_recording_without_a_stream_is_told_as_one(make_live: MakeLive) -> None:
    step = line(make_live("replay", (recorded(Reply(200, JsonBody(SAID))),))).asked(CREATE)
    kinds = [json.loads(event)["type"] for event in step.events]
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")


def test_what_is_no_recorded_turn_diverges_and_nothing_is_answered_after_that(make_live: MakeLive) -> None:
    live = make_live("replay", (recorded(STREAMED),))
    socket = line(live)
    [told] = socket.asked(json.dumps({"type": "response.create", **ASKED, "input": "bye", "stream_id": "a"})).events
    error = json.loads(told)
    assert (error["type"], error["status"], error["stream_id"]) == ("error", 400, "a")
    assert "input" in error["error"]["message"]
    assert len(live.divergences) == 1
    [later] = socket.asked(CREATE).events
    assert json.loads(later)["error"]["message"] == AFTER


def test_streams_that_share_a_socket_are_told_apart(make_live: MakeLive, tmp_path: Path) -> None:
    socket = line(make_live("record"))
    for stream in "ab":
        socket.asked(json.dumps({"type": "response.create", **ASKED, "stream_id": stream}))
    for stream in "ba":
        socket.told(json.dumps({"type": "response.completed", "response": {**SAID, "id": stream}, "stream_id": stream}))
    found = [(turn.request.body, turn.reply.body) for turn in kept(tmp_path)]
    assert found == [(JsonBody({**ASKED, "stream_id": stream}), JsonBody({**SAID, "id": stream})) for stream in "ab"]


@pytest.mark.parametrize(
    ("told", "by_client", "status", "frames", "cut"),
    [
        ([], True, ABANDONED, None, False),
        ([], False, 200, (), True),
        (EVENTS[:1], True, 200, FRAMES[:1], True),
        (EVENTS[:1], False, 200, FRAMES[:1], True),
    ],
)
def test_what_was_under_way_when_a_socket_ends_is_kept_as_far_as_it_came(
    make_live: MakeLive,
    tmp_path: Path,
    told: list[str],
    by_client: bool,
    status: int,
    frames: tuple[bytes, ...] | None,
    cut: bool,
) -> None:
    socket = line(make_live("record"))
    socket.asked(CREATE)
    for event in told:
        socket.told(event)
    socket.ended(by_client=by_client)
    [turn] = kept(tmp_path)
    assert (turn.reply.status, turn.reply.frames, turn.reply.cut) == (status, frames, cut)


def test_a_cut_answer_breaks_the_socket_again(make_live: MakeLive) -> None:
    cut = Reply(200, BytesBody(b""), STREAMED.headers, FRAMES[:1], cut=True)
    step = line(make_live("replay", (recorded(cut),))).asked(CREATE)
    assert (list(step.events), step.hang_up) == ([EVENTS[0]], True)


def test_an_error_of_the_upstream_is_kept_with_its_status(make_live: MakeLive, tmp_path: Path) -> None:
    socket = line(make_live("record"))
    socket.asked(CREATE)
    socket.told(json.dumps({"type": "error", "status": 400, "error": {"message": "no"}}))
    [turn] = kept(tmp_path)
    assert (turn.reply.status, turn.reply.body) == (400, JsonBody({"error": {"message": "no"}}))


def test_results_of_the_spec_go_over_the_socket(make_live: MakeLive, tmp_path: Path) -> None:
    live = make_live("record", results={"look": "hail"})
    socket = line(live)
    socket.asked(CREATE)
    call: JsonValue = {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"}
    socket.told(json.dumps({"type": "response.completed", "response": {**SAID, "output": [call]}}))
    output: JsonValue = {"type": "function_call_output", "call_id": "1", "output": "rain"}
    more: Object = {**ASKED, "previous_response_id": "resp_1", "input": [output]}
    forward = socket.asked(json.dumps({"type": "response.create", **more})).forward
    assert forward is not None
    assert json.loads(forward) == {"type": "response.create", **more, "input": [{**output, "output": "hail"}]}  # type: ignore[dict-item]


@pytest.mark.parametrize("said", ['{"type":"response.steer"}', "no JSON", "[1]"])
def test_what_is_no_turn_is_refused_and_said(make_live: MakeLive, said: str) -> None:
    live = make_live("record")
    step = line(live).asked(said)
    assert (step.forward, len(step.events)) == (None, 1)
    assert live.problems[0].endswith("flowproof knows response.create")
    assert live.turns == 0


@pytest.mark.parametrize(
    ("path", "websocket", "refused"),
    [("/v1/responses", True, False), ("/v1/responses", False, True), ("/v1/chat/completions", True, True)],
)
def test_only_where_it_was_asked_for_there_is_a_socket(
    make_live: MakeLive, make_flow: MakeFlow, sessions: Sessions, path: str, websocket: bool, refused: bool
) -> None:
    flow = make_flow(b"", path, "GET", UPGRADE)
    sessions[flow.client_conn.sockname[1]] = make_live("replay", websocket=websocket)
    asyncio.run(Gate(sessions, default()).request(flow))
    assert (flow.response is not None and flow.response.status_code == 426) == refused


@pytest.mark.parametrize("phase", ["record", "replay"])
def test_a_socket_leads_to_the_upstream_or_to_the_wall(
    make_live: MakeLive, make_flow: MakeFlow, sessions: Sessions, phase: str
) -> None:
    flow = make_flow(b"", "/v1/responses", "GET", UPGRADE)
    port = flow.client_conn.sockname[1]
    upstreams = {"*": Upstream(url="https://api.example/llm/v1", key="real-key")}
    sessions[port] = make_live(phase, upstreams=upstreams, websocket=True)
    wall = Wall()
    wall.address = ("127.0.0.1", 4712)
    asyncio.run(Sockets(sessions, default(), {port: wall}).request(flow))
    led = (flow.request.scheme, flow.request.host, flow.request.port, flow.request.path)
    headers = flow.request.headers
    if phase == "replay":
        assert led == ("http", "127.0.0.1", 4712, "/v1/responses")
    else:
        assert led == ("https", "api.example", 443, "/llm/v1/responses")
        assert (headers["authorization"], headers["upgrade"]) == ("Bearer real-key", "websocket")


@pytest.fixture
def relayed(make_live: MakeLive, make_flow: MakeFlow, sessions: Sessions) -> Iterator[tuple[Sockets, http.HTTPFlow]]:
    """A socket that is open at record."""
    flow = make_flow(b"", "/v1/responses", "GET", UPGRADE)
    upstreams = {"*": Upstream(url="https://api.example/v1", key="real-key")}
    sessions[flow.client_conn.sockname[1]] = make_live("record", upstreams=upstreams, websocket=True)
    sockets = Sockets(sessions, default(), {})
    with taddons.context(Proxyserver()):
        asyncio.run(sockets.request(flow))
        flow.response = http.Response.make(101)
        flow.websocket = WebSocketData()
        sockets.websocket_start(flow)
        yield sockets, flow


def message(flow: http.HTTPFlow, text: str, *, from_client: bool) -> WebSocketMessage:
    assert flow.websocket is not None
    flow.websocket.messages.append(WebSocketMessage(Opcode.TEXT, from_client, text.encode()))
    return flow.websocket.messages[-1]


def test_a_socket_is_relayed_as_it_is_and_shows_no_key(relayed: tuple[Sockets, http.HTTPFlow], tmp_path: Path) -> None:
    sockets, flow = relayed
    assert flow.request.headers["authorization"] == "(hidden by flowproof)"
    for text, from_client in ((CREATE, True), *((event, False) for event in EVENTS)):
        said = message(flow, text, from_client=from_client)
        sockets.websocket_message(flow)
        assert (said.dropped, said.content) == (False, text.encode())
    assert [turn.reply for turn in kept(tmp_path)] == [STREAMED]
    assert flow.comment.startswith("s · WebSocket · turn 1 · openai-responses")


def test_what_cannot_be_kept_is_not_passed_on(relayed: tuple[Sockets, http.HTTPFlow], sessions: Sessions) -> None:
    """mitmproxy would log the exception and let the message pass."""
    sockets, flow = relayed
    [live] = sessions.values()
    message(flow, CREATE, from_client=True)
    sockets.websocket_message(flow)
    live._journal.close()  # as when the disk is gone
    last = None
    for event in EVENTS:
        last = message(flow, event, from_client=False)
        sockets.websocket_message(flow)
    assert last is not None and last.dropped
    assert "flowproof failed inside the boundary: WebSocket" in live.problems[0]
