"""A trace becomes the events of the run, whatever dialect wrote it."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import pytest

from flowproof_addons.dialects.base import Registry
from flowproof_addons.dialects.registry import default
from flowproof_addons.session import MockResult, ToolMock
from flowproof_addons.trace.model import Exchange, Fault, JsonBody, JsonValue, Reply, Request, Trace
from flowproof_runner.evidence.build import LaneReport, Placed, build
from flowproof_runner.evidence.conclusion import main_thread, reply
from flowproof_runner.evidence.model import (
    Asked,
    Decided,
    Dispatched,
    Diverged,
    Evidence,
    Faulted,
    Replied,
    Returned,
    Told,
)

type Object = dict[str, JsonValue]


def turn(dialect: str, path: str, asked: JsonValue, said: JsonValue, *, status: int = 200) -> Exchange:
    return Exchange(Request("POST", path, "", JsonBody(asked)), Reply(status, JsonBody(said)), dialect)


def trace(*exchanges: Exchange) -> Trace:
    return Trace("flowproof 0", "2026-12-02T00:00:00Z", "", exchanges)


def chat(messages: list[JsonValue], said: Object, **more: JsonValue) -> Exchange:
    asked: Object = {"model": "m", "messages": messages, **more}
    return turn("openai-chat", "/v1/chat/completions", asked, {"id": "c", "choices": [{"message": said}]})


def call(name: str, call_id: str = "call_1", **arguments: JsonValue) -> Object:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def calling(*calls: Object) -> Object:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def told(call_id: str, content: str) -> Object:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def text(content: str) -> Object:
    return {"role": "assistant", "content": content}


def user(content: str) -> Object:
    return {"role": "user", "content": content}


def system(content: str) -> Object:
    return {"role": "system", "content": content}


def kinds(evidence: Evidence) -> list[str]:
    return [type(event).__name__ for event in evidence.events]


LOOP = trace(
    chat([user("go")], calling(call("a", x=1)), tools=[{"type": "function", "function": {"name": "a"}}]),
    chat([user("go"), calling(call("a", x=1)), told("call_1", '{"ok": true}')], calling(call("b", "call_2"))),
    chat(
        [
            user("go"),
            calling(call("a", x=1)),
            told("call_1", '{"ok": true}'),
            calling(call("b", "call_2")),
            told("call_2", "no"),
        ],
        text("done"),
    ),
)


@pytest.fixture
def registry() -> Registry:
    return default()


def test_a_tool_loop_is_asked_replied_decided_told_with_turn_numbers(registry: Registry) -> None:
    evidence = build(LOOP, registry)
    assert kinds(evidence) == "Asked Replied Decided Asked Told Replied Decided Asked Told Replied".split()
    assert [event.seq for event in evidence.events] == list(range(10))
    assert [event.turn for event in evidence.events] == [1, 1, 1, 2, 2, 2, 2, 3, 3, 3]
    assert next(evidence.of(Asked)).tools == ("a",)


def test_a_result_is_told_once_however_often_the_history_is_resent(registry: Registry) -> None:
    assert [(event.call, event.tool, event.result) for event in build(LOOP, registry).of(Told)] == [
        ("call_1", "a", {"ok": True}),
        ("call_2", "b", "no"),
    ]


def test_a_decision_knows_the_results_it_was_informed_by(registry: Registry) -> None:
    assert [event.known for event in build(LOOP, registry).of(Decided)] == [(), ("call_1",)]


def test_calls_of_one_reply_share_a_group(registry: Registry) -> None:
    evidence = build(
        trace(chat([user("go")], calling(call("a", "1"), call("a", "2"))), chat([user("x")], calling(call("a", "3")))),
        registry,
    )
    assert [(event.call, event.group) for event in evidence.of(Decided)] == [("1", 1), ("2", 1), ("3", 2)]


@pytest.mark.parametrize("call_id", ["call_1", ""])
def test_ids_that_repeat_or_are_missing_still_join_results_to_their_calls(registry: Registry, call_id: str) -> None:
    one, two = calling(call("a", call_id, n=1)), calling(call("a", call_id, n=2))
    evidence = build(
        trace(
            chat([user("go")], one),
            chat([user("go"), one, told(call_id, "first")], two),
            chat([user("go"), one, told(call_id, "first"), two, told(call_id, "second")], text("done")),
        ),
        registry,
    )
    decided = {event.call: event.arguments for event in evidence.of(Decided)}
    joined = [(decided[event.call], event.result) for event in evidence.of(Told)]
    assert joined == [({"n": 1}, "first"), ({"n": 2}, "second")]
    assert len(decided) == 2


def test_results_of_a_history_the_agent_brought_along_answer_no_call(registry: Registry) -> None:
    old: list[JsonValue] = [user("before"), calling(call("a")), told("call_1", "old")]
    evidence = build(
        trace(
            chat(old, calling(call("a"))),
            chat([*old, calling(call("a")), told("call_1", "new")], text("done")),
        ),
        registry,
    )
    assert [(event.call, event.result) for event in evidence.of(Told)] == [
        ("call_1#before.1", "old"),
        ("call_1", "new"),
    ]


def test_stateful_threads_continue_by_the_id_of_the_reply(registry: Registry) -> None:
    """The Responses API keeps the history: a continuing request has only the new items, and no instructions."""

    def respond(asked: Object, reply_id: str, *output: JsonValue) -> Exchange:
        return turn(
            "openai-responses", "/v1/responses", {"model": "m", **asked}, {"id": reply_id, "output": list(output)}
        )

    def then(previous: str, *items: JsonValue) -> Object:
        return {"previous_response_id": previous, "input": list(items)}

    def function_call(call_id: str, name: str) -> Object:
        return {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"}

    def output(call_id: str, said: str) -> Object:
        return {"type": "function_call_output", "call_id": call_id, "output": said}

    message: Object = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    evidence = build(
        trace(
            respond({"instructions": "be good", "input": "go"}, "r1", function_call("c", "a"), function_call("d", "b")),
            respond(
                {"previous_response_id": "r1", "input": [output("d", "2"), output("c", "1")]},
                "r2",
                function_call("c", "a"),
            ),
            respond({"previous_response_id": "r2", "input": [output("c", "3")]}, "r3", message),
        ),
        registry,
    )
    assert {event.thread for event in evidence.of(Asked)} == {"thread-1"}
    assert [(event.call, event.tool, event.result) for event in evidence.of(Told)] == [
        ("d", "b", 2),
        ("c", "a", 1),
        ("c#2.1", "a", 3),
    ]
    assert [event.known for event in evidence.of(Decided)][-1] == ("d", "c")
    assert reply(evidence) == "done"


def test_results_the_spec_authored_are_marked(registry: Registry) -> None:
    mocks = [ToolMock(name="a", results=(MockResult(content={"ok": True}),))]
    assert [event.mocked for event in build(LOOP, registry, mocks=mocks).of(Told)] == [True, False]


def test_a_divergence_is_an_event_and_no_reply(registry: Registry) -> None:
    good = chat([user("go")], text("hi"))
    bad = Exchange(good.request, good.reply, good.dialect, divergence={"kind": "changed"})
    evidence = build(trace(bad), registry)
    assert kinds(evidence) == ["Asked", "Diverged"]
    assert next(evidence.of(Diverged)).report == {"kind": "changed"}


def test_side_calls_are_no_turns(registry: Registry) -> None:
    models = Exchange(Request("GET", "/v1/models", "", JsonBody(None)), Reply(200, JsonBody({})))
    assert [event.turn for event in build(trace(models, *LOOP.exchanges), registry).of(Asked)] == [1, 2, 3]


def test_turns_of_another_system_prompt_are_another_conversation(registry: Registry) -> None:
    evidence = build(
        trace(
            chat([system("name the session"), user("x" * 5000)], text("Title")),
            chat([system("work"), user("go")], calling(call("a"))),
            chat([system("work"), user("go"), calling(call("a")), told("call_1", "1")], text("done")),
        ),
        registry,
    )
    assert (main_thread(evidence), reply(evidence)) == ("thread-2", "done")


@pytest.mark.parametrize("turned", [False, True])
def test_with_equally_many_turns_the_longer_conversation_is_the_main_one(registry: Registry, turned: bool) -> None:
    small = chat([system("title"), user("go")], text("Title"))
    big = chat([system("work"), user("go" * 500)], text("done"))
    evidence = build(trace(*((small, big) if turned else (big, small))), registry)
    assert reply(evidence) == "done"


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (text("done"), "done"),
        (calling(call("a")), None),
        ({**calling(call("a")), "content": "let me see"}, None),
        (text(""), None),
        ({"role": "assistant", "content": None, "refusal": "no"}, "no"),
    ],
)
def test_the_reply_is_the_last_text_unless_tools_are_asked_for(
    registry: Registry, last: Object, said: str | None
) -> None:
    first = chat([user("go")], text("not yet"))
    assert reply(build(trace(first, chat([user("go")], last)), registry)) == said


def test_an_error_after_the_last_answer_does_not_unsay_it(registry: Registry) -> None:
    failed = turn("openai-chat", "/v1/chat/completions", {"messages": []}, {"error": {}}, status=500)
    assert reply(build(trace(chat([user("go")], text("done")), failed), registry)) == "done"


def test_a_run_without_turns_has_no_reply(registry: Registry) -> None:
    evidence = build(trace(), registry)
    assert (evidence.events, main_thread(evidence), reply(evidence)) == ((), None, None)


def lane(name: str, tool: str, after: int) -> Callable[[tuple[Decided, ...]], LaneReport]:
    def read(decided: tuple[Decided, ...]) -> LaneReport:
        joined = next((event.call for event in decided if event.tool == tool), "unknown")
        sent = Dispatched(seq=0, lane=name, call=joined, tool=tool, arguments={})
        back = Returned(seq=0, lane=name, call=joined, tool=tool, result=1)
        return LaneReport(name, frozenset({tool}), (Placed(after, 1, sent), Placed(after, 2, back)))

    return read


def test_another_lane_stands_between_the_turns_it_happened_between(registry: Registry) -> None:
    evidence = build(LOOP, registry, lanes=[lane("fs", "b", 2), lane("db", "a", 1)])
    turn_with_call = ["Replied", "Decided", "Dispatched", "Returned"]
    assert kinds(evidence) == ["Asked", *turn_with_call, "Asked", "Told", *turn_with_call, "Asked", "Told", "Replied"]
    assert [event.call for event in evidence.of(Dispatched)] == ["call_1", "call_2"]
    assert [event.seq for event in evidence.events] == list(range(14))
    assert evidence.observed_lanes == {"fs", "db"}
    lanes = [evidence.lane_of[name] for name in ("a", "db.a", "mcp__fs__b")]
    assert lanes == ["db", "db", "fs"]


def test_a_name_that_two_lanes_answer_to_belongs_to_neither(registry: Registry) -> None:
    evidence = build(LOOP, registry, lanes=[lane("fs", "a", 1), lane("db", "a", 1)])
    assert "a" not in evidence.lane_of
    assert evidence.lane_of["fs/a"] == "fs"


def test_anthropic_tool_use_is_the_same_evidence(registry: Registry) -> None:
    def message(messages: list[JsonValue], *content: JsonValue) -> Exchange:
        asked: Object = {"model": "m", "system": "s", "messages": messages}
        said: Object = {"id": "m", "type": "message", "content": list(content), "stop_reason": "x"}
        return turn("anthropic-messages", "/v1/messages", asked, said)

    use: Object = {"type": "tool_use", "id": "t1", "name": "a", "input": {"x": 1}}
    result: Object = {"type": "tool_result", "tool_use_id": "t1", "content": "bad", "is_error": True}
    evidence = build(
        trace(
            message([user("go")], use),
            message(
                [user("go"), {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}],
                {"type": "text", "text": "sorry"},
            ),
        ),
        registry,
    )
    assert kinds(evidence) == "Asked Replied Decided Asked Told Replied".split()
    assert [(event.tool, event.result, event.is_error) for event in evidence.of(Told)] == [("a", "bad", True)]
    assert [event.text for event in evidence.of(Replied)] == [None, "sorry"]


def test_reading_only_what_a_request_adds_gives_the_same_events(registry: Registry) -> None:
    """Requests that share their history as the same objects are read incrementally, copies are read whole."""
    copied = trace(*(replace(turn, request=deepcopy(turn.request)) for turn in LOOP.exchanges))
    assert build(LOOP, registry) == build(copied, registry)


def test_a_faulted_request_is_no_turn_and_stands_before_the_turn_it_stood_in_for() -> None:
    """What it asked for was not decided: the answer to its repetition decides."""
    second = LOOP.turns[1]
    faulted = (
        replace(second, fault=Fault("turn 2: cut in half", 2)),
        replace(second, reply=Reply(429, JsonBody({})), fault=Fault("turn 9: answer 429", 9)),
    )
    plain, evidence = build(LOOP, default()), build(replace(LOOP, faulted=faulted), default())
    assert [event for event in evidence.events if isinstance(event, Faulted)] == [
        Faulted(seq=4 - 1, lane="model", turn=2, label="turn 2: cut in half", status=200),
        Faulted(seq=len(evidence.events) - 1, lane="model", turn=None, label="turn 9: answer 429", status=429),
    ]
    assert [kind for kind in kinds(evidence) if kind != "Faulted"] == kinds(plain)
