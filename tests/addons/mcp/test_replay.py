"""What a replayed lane demands of an agent and gives it, rule by rule."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.addons.mcp.stage import MemoryPeer, Play, Playing, Recorded, Watching, note, request, said, tool_call

from flowproof_addons.mcp import conductor, pace, replay
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.lane import Lane
from flowproof_addons.session import McpServer, McpTool, MockResult
from flowproof_addons.trace.model import JsonValue

READY = note("notifications/initialized")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waits that end only when something does not come are short here."""
    monkeypatch.setattr(replay, "QUIET_S", 0.15)
    monkeypatch.setattr(conductor, "PATIENCE_S", 0.15)
    monkeypatch.setattr(conductor, "ANSWER_S", 0.15)


@pytest.fixture
def sequential(recorded: Recorded) -> Lane:
    """a, then b, each answered before the next."""
    return recorded(
        ("agent", tool_call(1, "a", x=1)),
        ("server", said(1, "A")),
        ("agent", tool_call(2, "b", x=2)),
        ("server", said(2, "B")),
    )


@pytest.fixture
def parallel(recorded: Recorded) -> Lane:
    """a and b at once, b answered first."""
    return recorded(
        ("agent", tool_call(1, "a")),
        ("agent", tool_call(2, "b")),
        ("server", said(2, "B")),
        ("server", said(1, "A")),
    )


def outcome(text: str) -> JsonValue:
    return rpc.outcome(said(0, text))


def reports(playing: Playing) -> list[JsonValue]:
    return [event["report"] for event in playing.events if event["event"] == "divergence"]


def test_recorded_calls_get_their_answers_under_the_ids_of_this_run(play: Play, sequential: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call("x", "a", {"progressToken": "random"}, x=1), tool_call(2.5, "b", x=2))
        await lane.peer.until(2)

    playing = play(sequential, scenario)
    assert playing.peer.answers() == {"x": outcome("A"), 2.5: outcome("B")}
    assert playing.finished() == []


def test_answers_leave_in_the_recorded_order_whatever_the_order_of_arrival(play: Play, parallel: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call(1, "b"), tool_call(2, "a"))
        await lane.peer.until(2)

    playing = play(parallel, scenario)
    assert [each[2] for each in playing.peer.got] == [outcome("B"), outcome("A")]
    assert playing.finished() == []


def test_calls_recorded_one_after_the_other_may_arrive_together_in_any_order(play: Play, sequential: Lane) -> None:
    """A fast server answers the first of two concurrent calls before the second is sent: no order is proved by that."""

    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call(2, "b", x=2), tool_call(1, "a", x=1))
        await lane.peer.until(2)

    assert play(sequential, scenario).finished() == []


def test_a_changed_argument_is_named_with_both_values(play: Play, sequential: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call(1, "a", x=1), tool_call(2, "b", x=3))
        await lane.peer.until(2)

    playing = play(sequential, scenario)
    assert reports(playing) == [
        {
            "lane": "files",
            "reason": "changed",
            "message": "mcp.files: call 2, tools/call b: arguments.x: 2 -> 3",
            "position": 2,
            "differences": [{"path": "arguments.x", "kind": "changed", "expected": 2, "actual": 3}],
            "received": {"tool": "b", "arguments": {"x": 3}},
        }
    ]
    assert playing.finished() == ["mcp.divergence", "mcp.unserved"]
    error = playing.peer.answers()[2]
    assert isinstance(error, dict)
    assert error["error"] == {
        "code": -32603,
        "message": "flowproof: mcp.files: call 2, tools/call b: arguments.x: 2 -> 3",
    }


def test_another_tool_is_named_with_the_one_that_was_due(play: Play, sequential: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call(1, "c", x=1))

    playing = play(sequential, scenario)
    assert playing.findings.diverged is not None
    assert playing.findings.diverged.message == "mcp.files: call 1 was tools/call a, now tools/call c"


def test_swapped_sequential_calls_are_a_changed_order(play: Play, sequential: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call(1, "b", x=2))
        await lane.peer.until(1)

    playing = play(sequential, scenario)
    assert playing.findings.diverged is not None
    assert playing.findings.diverged.reason == "early"
    assert playing.findings.diverged.message == (
        "mcp.files: tools/call b is recorded as call 2 and was sent before call 1, tools/call a; "
        "the agent changed the order of its calls"
    )
    assert playing.finished() == ["mcp.divergence", "mcp.unserved"]


def test_a_missing_call_fails(play: Play, sequential: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call(1, "a", x=1))
        await lane.peer.until(1)

    playing = play(sequential, scenario)
    assert playing.finished() == ["mcp.unserved"]
    assert (
        playing.findings.entries[0]["message"] == 'mcp.files: 1 recorded call(s) were not made: tools/call b {"x": 2}'
    )


def test_a_call_too_many_fails(play: Play, sequential: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        for number, (tool, x) in enumerate([("a", 1), ("b", 2), ("b", 2)]):
            lane.receive(tool_call(number, tool, x=x))
            await lane.peer.until(number + 1)

    playing = play(sequential, scenario)
    assert playing.finished() == ["mcp.divergence"]
    assert playing.findings.diverged is not None
    assert playing.findings.diverged.reason == "extra"


def test_after_a_divergence_everything_is_refused_and_nothing_is_found_again(play: Play, sequential: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call(1, "z"), tool_call(2, "a", x=1), tool_call(3, "y"))
        await lane.peer.until(3)

    playing = play(sequential, scenario)
    assert all("error" in str(each) for each in playing.peer.answers().values())
    assert [entry["id"] for entry in playing.findings.entries] == ["mcp.divergence"]


def test_a_client_that_sends_concurrent_calls_one_by_one_is_served_after_one_wait(play: Play, parallel: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call(1, "a"))
        await lane.peer.until(1)
        lane.receive(tool_call(2, "b"))
        await lane.peer.until(2)

    playing = play(parallel, scenario)
    assert playing.peer.answers() == {1: outcome("A"), 2: outcome("B")}
    assert playing.finished() == []


# lists and lifecycle


@pytest.fixture
def growing(recorded: Recorded) -> Lane:
    """A list that changes after the first call."""
    opening: dict[str, JsonValue] = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a"}}
    tools: JsonValue = {"tools": [{"name": "a"}]}
    more: JsonValue = {"tools": [{"name": "a"}, {"name": "b"}]}
    return recorded(
        ("agent", request(0, "initialize", opening)),
        ("server", {"id": 0, "result": {"protocolVersion": "2025-11-25"}}),
        ("agent", READY),
        ("agent", request(1, "tools/list")),
        ("server", {"id": 1, "result": tools}),
        ("agent", tool_call(2, "a")),
        ("server", said(2, "A")),
        ("server", note("notifications/tools/list_changed")),
        ("agent", request(3, "tools/list")),
        ("server", {"id": 3, "result": more}),
    )


def test_lists_are_answered_as_often_as_asked_with_what_they_were_at_that_point(play: Play, growing: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(READY, request(1, "tools/list"), request(2, "tools/list"), tool_call(3, "a"))
        await lane.peer.until(4)
        lane.receive(request(4, "tools/list"))

    playing = play(growing, scenario)
    counts = [str(playing.peer.answers()[number]).count("name") for number in (1, 2, 4)]
    assert counts == [1, 1, 2]
    assert ("sent", "notifications/tools/list_changed") in playing.peer.got
    assert playing.finished() == []


@pytest.mark.parametrize(
    ("message", "said_"),
    [
        (
            request(1, "initialize", {"protocolVersion": "2025-06-18"}),
            "the agent's client speaks protocol 2025-06-18 in initialize; the lane was recorded with 2025-11-25",
        ),
        (
            request(1, "tools/list", meta={rpc.META_VERSION: "2026-07-28"}),
            "the agent's client speaks protocol 2026-07-28 in tools/list; the lane was recorded with 2025-11-25",
        ),
        (request(1, "prompts/list"), "prompts/list with these parameters was not asked when the lane was recorded"),
    ],
)
def test_a_wrong_era_and_an_unrecorded_list_name_themselves(
    play: Play, growing: Lane, message: rpc.Message, said_: str
) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(message)

    playing = play(growing, scenario)
    assert playing.findings.diverged is not None
    assert said_ in playing.findings.diverged.message


def test_a_client_that_now_probes_for_the_new_era_is_told_to_fall_back(play: Play, growing: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(request(1, "server/discover", meta={rpc.META_VERSION: "2026-07-28"}), request(2, "ping"))

    playing = play(growing, scenario)
    assert playing.peer.answers() == {
        1: {"error": {"code": -32601, "message": "Method not found"}},
        2: {"result": {}},
    }
    assert playing.peer.statuses == [404, 200]
    assert playing.findings.entries == []


# server messages


@pytest.fixture
def asking(recorded: Recorded) -> Lane:
    """A call during which the server reports progress and asks the user."""
    ask = {"id": 7, "method": "elicitation/create", "params": {"message": "sure?"}}
    return recorded(
        ("agent", tool_call(1, "a", {"progressToken": 1})),
        ("server", note("notifications/progress", progressToken=1, progress=1)),
        ("server", {"jsonrpc": "2.0", **ask}),
        ("agent", {"id": 7, "result": {"action": "accept", "_meta": {"at": "noon"}}}),
        ("server", said(1, "A")),
    )


def test_progress_carries_this_runs_token_and_a_server_request_waits_for_its_answer(play: Play, asking: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call("x", "a", {"progressToken": "3fa0"}))
        assert [each[0] for each in lane.peer.got] == ["sent", "sent"]
        lane.receive({"id": 7, "result": {"action": "accept", "_meta": {"at": "midnight"}}})
        await lane.peer.until(3)

    playing = play(asking, scenario)
    assert playing.peer.messages[0]["params"] == {"progressToken": "3fa0", "progress": 1}
    assert playing.peer.messages[1]["id"] == 7
    assert playing.peer.answers() == {"x": outcome("A")}
    assert playing.finished() == []


def test_progress_the_agent_did_not_ask_for_is_not_sent(play: Play, asking: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call("x", "a"))

    assert [message["method"] for message in play(asking, scenario).peer.messages] == ["elicitation/create"]


def test_another_answer_to_a_server_request_is_a_divergence(play: Play, asking: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call(1, "a"), {"id": 7, "result": {"action": "decline"}})

    playing = play(asking, scenario)
    assert playing.findings.diverged is not None
    assert playing.findings.diverged.message == (
        "mcp.files: the agent answered elicitation/create differently: result.action: 'accept' -> 'decline'"
    )


def test_an_answer_that_does_not_come_is_a_divergence_and_hangs_nobody(play: Play, asking: Lane) -> None:
    async def scenario(lane: Playing) -> None:
        lane.receive(tool_call(1, "a"))
        await lane.peer.until(2)

    playing = play(asking, scenario)
    assert playing.peer.answers() == {1: outcome("A")}
    assert playing.findings.diverged is not None
    assert playing.findings.diverged.reason == "unanswered"


def test_a_push_goes_to_the_connection_that_makes_the_calls_of_its_session(play: Play, growing: Lane) -> None:
    other = MemoryPeer()

    async def scenario(lane: Playing) -> None:
        lane.receive(READY)
        lane.receive(READY, peer=other)
        lane.receive(tool_call(1, "a"), peer=other)
        await other.until(2)

    playing = play(growing, scenario)
    assert playing.peer.got == []
    assert [each[0] for each in other.got] == ["answer", "sent"]


@pytest.fixture
def two_sessions(watching: Watching) -> Lane:
    """Two connections at once, a's and b's; each is told of a change before its answer."""
    peers = {tool: MemoryPeer() for tool in "ab"}
    for tool, peer in peers.items():
        watching.recording.from_agent(peer, READY)
        watching.recording.from_agent(peer, tool_call(1, tool))
    for tool, peer in peers.items():
        watching.recording.from_server(peer, note("notifications/tools/list_changed"))
        watching.recording.from_server(peer, said(1, tool))
    return watching.lane()


@pytest.mark.parametrize("together", [True, False])
def test_whichever_connection_comes_first_hears_what_was_said_before_its_answer_before_it(
    play: Play, two_sessions: Lane, together: bool
) -> None:
    """Of two sessions opened at once either may be the first; a client that closes on its answer hears no more."""
    peers = {tool: MemoryPeer() for tool in "ba"}

    async def scenario(lane: Playing) -> None:
        if together:
            for peer in peers.values():
                lane.receive(READY, peer=peer)
        for tool, peer in peers.items():
            lane.receive(*(() if together else (READY,)), tool_call(1, tool), peer=peer)
        for peer in peers.values():
            await peer.until(2)

    playing = play(two_sessions, scenario)
    assert all(peer.got[-1][0] == "answer" for peer in peers.values())
    assert [each[0] for peer in peers.values() for each in peer.got].count("sent") == 2
    assert playing.replay.journal.remarks == []
    assert playing.finished() == []


def test_a_push_keeps_its_distance_to_the_last_answer(play: Play, growing: Lane) -> None:
    """A client that ends its session on the answer may break on what comes in the same read."""

    async def scenario(lane: Playing) -> None:
        lane.receive(READY, tool_call(3, "a"))
        await lane.peer.until(1)
        assert lane.peer.messages == []
        await lane.peer.until(2)
        assert lane.replay.journal.run.now() - lane.peer.answered >= pace.PUSH_GAP_S

    assert play(growing, scenario).finished() == []


def test_updates_of_a_subscribed_resource_come_at_their_place_and_no_earlier(play: Play, recorded: Recorded) -> None:
    lane = recorded(
        ("agent", request(1, "resources/subscribe", {"uri": "note://x"})),
        ("server", {"id": 1, "result": {}}),
        ("agent", tool_call(2, "touch")),
        ("server", note("notifications/resources/updated", uri="note://x")),
        ("server", said(2, "touched")),
    )

    async def scenario(playing: Playing) -> None:
        playing.receive(request(1, "resources/subscribe", {"uri": "note://x"}))
        await playing.peer.until(1)
        playing.receive(tool_call(2, "touch"))
        await playing.peer.until(3)

    playing = play(lane, scenario)
    assert [each[0] for each in playing.peer.got] == ["answer", "sent", "answer"]
    assert playing.peer.messages == [note("notifications/resources/updated", uri="note://x")]
    assert playing.finished() == []


# cancellation


def test_a_call_cancelled_when_recorded_is_silent_until_it_is_cancelled_again(play: Play, recorded: Recorded) -> None:
    lane = recorded(
        ("agent", tool_call(1, "slow")),
        ("agent", note("notifications/cancelled", requestId=1)),
        ("agent", tool_call(2, "a")),
        ("server", said(2, "A")),
    )

    async def scenario(playing: Playing) -> None:
        playing.receive(tool_call(5, "slow"))
        assert playing.peer.got == []
        playing.receive(note("notifications/cancelled", requestId=5), tool_call(6, "a"))
        await playing.peer.until(1)

    playing = play(lane, scenario)
    assert playing.peer.answers() == {6: outcome("A")}
    assert playing.finished() == []


def test_a_cancel_that_comes_after_the_answer_means_nothing(play: Play, recorded: Recorded) -> None:
    lane = recorded(
        ("agent", tool_call(1, "a")),
        ("server", said(1, "A")),
        ("agent", note("notifications/cancelled", requestId=1)),
    )
    assert lane.calls[0].cancelled is None


# the spec's own answers


@pytest.fixture
def mocking() -> McpServer:
    """A server with a declared result and a forbidden tool."""
    paid = McpTool(name="pay", results=(MockResult(content={"paid": True}),))
    return McpServer(name="files", command=("files",), tools=(paid,), forbidden=("wipe",))


class TestDeclared:
    @pytest.fixture
    def server(self, mocking: McpServer) -> McpServer:
        return mocking

    def test_declared_results_and_refusals_are_played_without_a_server(self, play: Play, recorded: Recorded) -> None:
        lane = recorded(("agent", tool_call(1, "pay", sum=3)), ("agent", tool_call(2, "wipe")))
        assert [call.by for call in lane.calls] == ["spec", "enforce"]

        async def scenario(playing: Playing) -> None:
            playing.receive(tool_call(1, "pay", sum=3))
            playing.receive(tool_call(2, "wipe"))
            await playing.peer.until(2)

        playing = play(lane, scenario)
        answers = playing.peer.answers()
        assert answers[1] == lane.calls[0].outcome
        assert "refused before it reached files" in str(answers[2])
        assert [event["event"] for event in playing.events] == [
            "mcp.dispatched",
            "mcp.returned",
            "mcp.denied",
            "mcp.returned",
        ]
        assert playing.finished() == []

    def test_arguments_of_a_declared_tool_are_still_matched(self, play: Play, recorded: Recorded) -> None:
        lane = recorded(("agent", tool_call(1, "pay", sum=3)))

        async def scenario(playing: Playing) -> None:
            playing.receive(tool_call(1, "pay", sum=4))

        playing = play(lane, scenario)
        assert playing.findings.diverged is not None
        assert playing.findings.diverged.message == "mcp.files: call 1, tools/call pay: arguments.sum: 3 -> 4"

    def test_a_result_edited_after_the_recording_is_a_problem(self, play: Play, recorded: Recorded) -> None:
        made = recorded(("agent", tool_call(1, "pay")))
        edited = made.calls[0].__class__(
            method="tools/call",
            params=made.calls[0].params,
            opened=1,
            closed=2,
            by="spec",
            outcome={"result": {"content": []}},
        )

        async def scenario(playing: Playing) -> None:
            playing.receive(tool_call(1, "pay"))
            await playing.peer.until(1)

        playing = play(Lane(calls=(edited,)), scenario)
        assert [(entry["id"], entry["kind"]) for entry in playing.findings.entries] == [
            ("mcp.results.edited", "problem")
        ]


@pytest.fixture
def conversation(recorded: Recorded) -> Lane:
    """a in each of two user turns, b in the second only."""
    lane = recorded(
        *(
            (who, message)
            for n, tool in enumerate("aab")
            for who, message in (("agent", tool_call(n, tool)), ("server", said(n, f"{tool}{n}")))
        )
    )
    return replace(
        lane, calls=tuple(replace(call, user_turn=turn) for call, turn in zip(lane.calls, (1, 2, 2), strict=True))
    )


def test_a_call_is_answered_by_the_recording_of_its_own_user_turn(
    play: Play, conversation: Lane, lane_turn: list[int | None]
) -> None:
    async def scenario(lane: Playing) -> None:
        for turn, tool in ((1, "a"), (2, "a"), (2, "b")):
            lane_turn[0] = turn
            assert lane.replay.left(turn)[0] == {(1, "a"): 1, (2, "a"): 2, (2, "b"): 1}[turn, tool]
            lane.receive(tool_call(f"{turn}{tool}", tool))
        await lane.peer.until(3)

    playing = play(conversation, scenario)
    assert playing.finished() == []
    assert playing.peer.answers() == {"1a": outcome("a0"), "2a": outcome("a1"), "2b": outcome("b2")}
    assert [call.user_turn for call in playing.replay.journal.calls] == [1, 2, 2]


def test_a_call_of_a_later_user_turn_diverges_and_says_where(
    play: Play, conversation: Lane, lane_turn: list[int | None]
) -> None:
    async def scenario(lane: Playing) -> None:
        lane_turn[0] = 1
        lane.receive(tool_call(1, "a"))
        await lane.peer.until(1)
        lane.receive(tool_call(2, "b"))

    playing = play(conversation, scenario)
    [report] = reports(playing)
    assert isinstance(report, dict)
    assert (
        report["message"]
        == "mcp.files: user turn 1, tools/call b was called although all 1 recorded calls had been made"
    )
