"""What a recording writes down, and what it holds back."""

from __future__ import annotations

from tests.addons.mcp.stage import MemoryPeer, Recorded, Watching, note, request, said, tool_call

from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.lane import Call, Frame
from flowproof_addons.mcp.pace import FRAME_GAP_S, GAP_S, PUSH_GAP_S


def test_a_call_is_kept_without_ids_and_meta(recorded: Recorded) -> None:
    call = tool_call(9, "read", {"progressToken": "x", "claudecode/toolUseId": "toolu_1"}, path="a")
    assert recorded(("agent", call), ("server", said(9, "A"))).calls == (
        Call(
            method="tools/call",
            params={"name": "read", "arguments": {"path": "a"}},
            opened=1,
            turns=3,
            closed=2,
            outcome=rpc.outcome(said(9, "A")),
            tool_use="toolu_1",
        ),
    )


def test_answers_out_of_order_are_joined_by_id_and_by_its_type(recorded: Recorded) -> None:
    lane = recorded(
        ("agent", tool_call(1, "a")),
        ("agent", tool_call("1", "b")),
        ("agent", tool_call(3, "c")),
        ("server", said(3, "C")),
        ("server", said("1", "B")),
        ("server", said(1, "A")),
    )
    texts = [str(call.outcome)[-6] for call in lane.calls]
    assert texts == ["A", "B", "C"]
    assert [call.closed for call in lane.calls] == [6, 5, 4]


def test_the_same_ids_on_two_connections_are_two_calls(watching: Watching) -> None:
    one, two = MemoryPeer(), MemoryPeer()
    for peer, tool in ((one, "a"), (two, "b")):
        watching.recording.from_agent(peer, tool_call(1, tool))
    watching.recording.from_server(two, said(1, "B"))
    watching.recording.from_server(one, said(1, "A"))
    assert [str(call.outcome)[-6] for call in watching.lane().calls] == ["A", "B"]
    assert [call.session for call in watching.lane().calls] == [0, 1]


def test_errors_are_kept_as_errors(recorded: Recorded) -> None:
    error: rpc.Message = {"id": 1, "error": {"code": -32602, "message": "no such tool"}}
    (call,) = recorded(("agent", tool_call(1, "a")), ("server", error)).calls
    assert call.outcome == {"error": {"code": -32602, "message": "no such tool"}}


def test_a_notification_belongs_to_the_call_its_token_names(recorded: Recorded) -> None:
    progress = note("notifications/progress", progressToken="t2", progress=1)
    lane = recorded(
        ("agent", tool_call(1, "a", {"progressToken": "t1"})),
        ("agent", tool_call(2, "b", {"progressToken": "t2"})),
        ("server", progress),
        ("server", note("notifications/message", data="whose?")),
    )
    assert lane.calls[0].frames == ()
    assert lane.calls[1].frames == (
        Frame(at=3, message={"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}),
    )
    assert [push.message["method"] for push in lane.pushes] == ["notifications/message"]


def test_a_log_message_belongs_to_the_only_open_call_and_a_list_change_to_none(recorded: Recorded) -> None:
    lane = recorded(
        ("agent", tool_call(1, "a")),
        ("server", note("notifications/message", data="working")),
        ("server", note("notifications/tools/list_changed")),
    )
    assert [frame.message["method"] for frame in lane.calls[0].frames] == ["notifications/message"]
    assert [push.message["method"] for push in lane.pushes] == ["notifications/tools/list_changed"]


def test_a_server_request_is_kept_with_the_agents_answer(recorded: Recorded) -> None:
    asked: rpc.Message = {"id": 0, "method": "roots/list"}
    lane = recorded(("server", asked), ("agent", {"id": 0, "result": {"roots": []}}))
    assert lane.pushes == (Frame(at=1, message=asked, answer={"result": {"roots": []}}, answered=2),)


def test_a_list_asked_twice_with_one_answer_is_kept_once(recorded: Recorded) -> None:
    listed: rpc.Message = {"result": {"tools": []}}
    lane = recorded(
        ("agent", request(1, "tools/list")),
        ("server", {"id": 1, **listed}),
        ("agent", request(2, "tools/list")),
        ("server", {"id": 2, **listed}),
    )
    assert [(listing.method, listing.after) for listing in lane.catalogue] == [("tools/list", 0)]


def test_only_overlapping_answers_are_held_apart(watching: Watching) -> None:
    lane, peer, clock = watching.recording, watching.peer, watching.clock
    for number, tool in ((1, "a"), (2, "b")):
        lane.from_agent(peer, tool_call(number, tool))
    assert lane.delay(peer, said(1, "A")) == 0
    lane.from_server(peer, said(1, "A"))
    assert lane.delay(peer, said(2, "B")) == GAP_S
    clock[0] = GAP_S
    lane.from_server(peer, said(2, "B"))
    clock[0] = GAP_S + 0.001
    lane.from_agent(peer, tool_call(3, "c"))
    assert lane.delay(peer, said(3, "C")) == 0


def test_an_answer_keeps_its_distance_to_its_own_notifications(watching: Watching) -> None:
    lane, peer = watching.recording, watching.peer
    lane.from_agent(peer, tool_call(1, "a", {"progressToken": 1}))
    lane.from_server(peer, note("notifications/progress", progressToken=1, progress=1))
    assert lane.delay(peer, said(1, "A")) == FRAME_GAP_S


def test_a_push_keeps_its_distance_to_the_last_answer_while_nothing_is_open(watching: Watching) -> None:
    lane, peer, push = watching.recording, watching.peer, note("notifications/tools/list_changed")
    lane.from_agent(peer, request(0, "initialize"))
    lane.from_server(peer, {"id": 0, "result": {}})
    assert lane.delay(peer, push) == 0
    lane.from_agent(peer, tool_call(1, "a"))
    lane.from_server(peer, said(1, "A"))
    assert lane.delay(peer, push) == PUSH_GAP_S
    lane.from_agent(peer, tool_call(2, "b"))
    assert lane.delay(peer, push) == 0


def test_the_time_an_answer_is_held_back_is_not_the_servers(watching: Watching) -> None:
    lane, peer, clock = watching.recording, watching.peer, watching.clock
    lane.from_agent(peer, tool_call(1, "a"))
    clock[0] = 0.2
    lane.delay(peer, said(1, "A"))
    clock[0] = 0.7
    lane.from_server(peer, said(1, "A"))
    assert watching.lane().calls[0].ms == 200


def test_an_answer_nobody_asked_for_is_remarked(recorded: Recorded) -> None:
    assert recorded(("server", said(4, "?"))).remarks == ("the server answered a request that was not open",)


def test_a_lane_survives_its_file(recorded: Recorded) -> None:
    lane = recorded(
        ("agent", request(0, "initialize", {"protocolVersion": "2025-11-25"})),
        ("server", {"id": 0, "result": {"capabilities": {}}}),
        ("agent", note("notifications/initialized")),
        ("agent", tool_call(1, "a", {"progressToken": 1}, x=1.0, big=10**30)),
        ("server", {"id": 5, "method": "elicitation/create"}),
        ("agent", {"id": 5, "error": {"code": -32601, "message": "no"}}),
        ("agent", note("notifications/cancelled", requestId=1)),
    )
    assert lane_file.load("files", lane_file.dump(lane)) == lane
