"""A call that asked for input and was sent again with it is one call."""

from __future__ import annotations

from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp.lane import Call, Lane
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import AnyEvent, Confirmed, Dispatched, Returned
from flowproof_runner.mcp.evidence import reader

ASKS: JsonValue = {"resultType": "input_required", "inputRequests": {"q": {}}, "requestState": "s"}
DONE: JsonValue = {"content": [{"type": "text", "text": "done"}]}


def call(tick: int, result: JsonValue, *, ms: int = 0, **more: JsonValue) -> Call:
    params: dict[str, JsonValue] = {"name": "pay", "arguments": {"sum": 1}, **more}
    return Call(method="tools/call", params=params, opened=tick, closed=tick + 1, outcome={"result": result}, ms=ms)


def events(*calls: Call) -> list[AnyEvent]:
    report = reader("bank", lane_file.dump(Lane(calls=calls)))(())
    return [placed.event for placed in sorted(report.events, key=lambda placed: placed.tick)]


def test_both_rounds_are_one_dispatch_one_answer_and_the_persons_word() -> None:
    responses: JsonValue = {"q": {"action": "accept", "content": {}}}
    made = events(call(1, ASKS, ms=5), call(3, DONE, ms=7, requestState="s", inputResponses=responses))
    assert [type(event) for event in made] == [Dispatched, Confirmed, Returned]
    assert isinstance(made[1], Confirmed)
    assert made[1].granted
    assert isinstance(made[2], Returned)
    assert (made[2].result, made[2].duration_ms) == ("done", 12.0)


def test_a_person_who_declines_grants_nothing() -> None:
    made = events(call(1, ASKS), call(3, DONE, requestState="s", inputResponses={"q": {"action": "decline"}}))
    assert [event.granted for event in made if isinstance(event, Confirmed)] == [False]


def test_an_equal_call_without_input_is_another_call() -> None:
    assert [type(e) for e in events(call(1, DONE), call(3, DONE))] == [Dispatched, Returned] * 2


def test_a_call_never_sent_again_stays_what_it_was() -> None:
    made = events(call(1, ASKS))
    assert [type(event) for event in made] == [Dispatched, Returned]
