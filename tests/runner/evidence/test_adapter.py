"""An adapter's conversation among the turns of its model: one order, one call for what was decided and carried out."""

from __future__ import annotations

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.events01 import from_rows, to_rows
from flowproof_runner.evidence.adapter import with_adapter
from flowproof_runner.evidence.model import (
    ADAPTER,
    MODEL,
    AnyEvent,
    Asked,
    Concluded,
    Decided,
    Dispatched,
    Evidence,
    Returned,
    Told,
)
from flowproof_runner.expectations.calls import calls as observed_calls
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect
from flowproof_runner.expectations.contract.view import View
from flowproof_runner.findings import Exit, exit_code


def asked(turn: int) -> Asked:
    return Asked(seq=0, lane=MODEL, turn=turn, dialect="d", model="m", thread="t")


def decided(turn: int, tool: str, arguments: JsonValue, *known: str) -> Decided:
    return Decided(
        seq=0,
        lane=MODEL,
        turn=turn,
        call=f"m{turn}.{tool}",
        tool=tool,
        arguments=arguments,
        arguments_text="",
        thread="t",
        group=turn,
        known=known,
    )


def told(turn: int, call: str, tool: str, result: JsonValue) -> Told:
    return Told(seq=0, lane=MODEL, turn=turn, call=call, tool=tool, result=result)


def used(turn: int | None, tool: str, arguments: JsonValue, result: JsonValue) -> list[AnyEvent]:
    """The adapter's three events of a call, read when so many model requests had arrived."""
    id = f"a{turn}.{tool}"
    return [
        Decided(
            seq=0,
            lane=ADAPTER,
            turn=turn,
            call=id,
            tool=tool,
            arguments=arguments,
            arguments_text="",
            thread="",
            group=0,
        ),
        Dispatched(seq=0, lane=ADAPTER, turn=turn, call=id, tool=tool, arguments=arguments),
        Returned(seq=0, lane=ADAPTER, turn=turn, call=id, tool=tool, result=result),
    ]


def final(turn: int | None) -> Concluded:
    return Concluded(seq=0, lane=ADAPTER, turn=turn, status="completed", output={})


def run(*adapter: AnyEvent, tools: tuple[str, ...] = ()) -> Evidence:
    """Two tools asked for by the model in turn, and what the adapter did about it."""
    model: list[AnyEvent] = [
        asked(1),
        decided(1, "look", {"id": 7}),
        asked(2),
        told(2, "m1.look", "look", '{"sum": 5}'),
        decided(2, "pay", {"sum": 5}, "m1.look"),
        asked(3),
        told(3, "m2.pay", "pay", '{"ok": true}'),
    ]
    return with_adapter(Evidence(tuple(model)), adapter, tools)


WHOLE = run(*used(1, "look", {"id": 7}, {"sum": 5}), *used(2, "pay", {"sum": 5}, {"ok": True}), final(3))


def findings(evidence: Evidence, **sections: object) -> list[str]:
    contract, complaints = compile_expect(Expect.model_validate(sections), ("look", "pay"))
    assert complaints == ()
    found = evaluate(contract, evidence)
    assert exit_code(found) == (Exit.FAILED if found else Exit.PASS)
    return [each.id for each in found]


def test_each_event_stands_where_it_was_seen() -> None:
    order = [f"{type(event).__name__} {event.lane} {event.turn}" for event in WHOLE.events]
    assert order == [
        "Asked model 1",
        "Decided model 1",
        "Decided adapter 1",
        "Dispatched adapter 1",
        "Returned adapter 1",
        "Asked model 2",
        "Told model 2",
        "Decided model 2",
        "Decided adapter 2",
        "Dispatched adapter 2",
        "Returned adapter 2",
        "Asked model 3",
        "Told model 3",
        "Concluded adapter 3",
    ]
    assert [event.seq for event in WHOLE.events] == list(range(14))


def test_events_that_do_not_say_when_stand_at_the_end() -> None:
    """As those of cassettes that were recorded before it was noted."""
    events = run(*used(None, "look", {"id": 7}, {}), final(None)).events
    assert [event.lane for event in events] == [MODEL] * 7 + [ADAPTER] * 4


def test_what_the_model_decided_and_the_adapter_did_is_one_call() -> None:
    view = View(WHOLE)
    assert [(call.id, call.tool, call.adapter_id) for call in view.calls] == [
        ("m1.look", "look", "a1.look"),
        ("m2.pay", "pay", "a2.pay"),
    ]
    assert findings(WHOLE, calls=["exactly 1 of look", "exactly 2 calls"]) == []
    assert [call.tool for call in observed_calls(WHOLE) if call.counts] == ["look", "pay"]


@pytest.mark.parametrize(
    ("sections", "found"),
    [
        ({"order": ["look before pay", "look then pay"]}, []),
        ({"order": ["pay before look"]}, ["tool.precedence"]),
        ({"args": ["pay where sum equals look.sum"]}, []),
        ({"args": ["pay where sum equals look.id"]}, ["tool.arguments_reference_rejected"]),
    ],
)
def test_order_and_origin_hold_across_the_two_streams(sections: dict[str, object], found: list[str]) -> None:
    assert findings(WHOLE, **sections) == found


def test_an_adapter_that_acts_before_its_model_was_told_is_not_informed() -> None:
    """The call carries the right value, but the model that decided it cannot have seen it."""
    model = (asked(1), decided(1, "look", {}), decided(1, "pay", {"sum": 5}))
    own = (*used(1, "look", {}, {"sum": 5}), *used(1, "pay", {"sum": 5}, {}), final(1))
    evidence = with_adapter(Evidence(model), own)
    assert findings(evidence, order=["look before pay"]) == ["tool.precedence"]
    assert findings(evidence, args=["pay where sum equals look.sum"]) == ["tool.arguments_reference_unresolved"]


def test_what_the_adapter_does_of_its_own_accord_is_informed_by_what_was_answered() -> None:
    own = (*used(1, "look", {}, {"sum": 5}), *used(1, "pay", {"sum": 5}, {}), final(1))
    evidence = with_adapter(Evidence((asked(1),)), own)
    assert findings(evidence, order=["look before pay"], args=["pay where sum equals look.sum"]) == []


def test_what_the_model_asked_for_and_the_adapter_refused_is_no_call() -> None:
    evidence = run(*used(1, "look", {"id": 7}, {"sum": 5}), final(3), tools=("pay",))
    assert findings(evidence, calls=["pay never"]) == []
    assert findings(evidence, calls=["pay never requested"]) == ["tool.forbidden_requested"]
    assert findings(evidence, calls=["pay at least once"]) == ["tool.required"]


def test_the_place_of_an_event_is_kept_in_cassettes() -> None:
    own = [*used(1, "look", {"id": 7}, {"sum": 5}), final(3)]
    kept = from_rows(to_rows(own), complete=True).events
    assert [event.turn for event in kept] == [1, 1, 1, 3]
