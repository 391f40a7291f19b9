"""What each operator makes of a run."""

from __future__ import annotations

from collections import Counter

import pytest

from flowproof_runner.evidence.model import Concluded, Confirmed, Decided, Evidence
from flowproof_runner.expectations.contract.view import View
from flowproof_runner.mutate.mutant import Mutant
from flowproof_runner.mutate.operators import Material, mutants
from flowproof_runner.mutate.story import Story

READS = frozenset({"list_orders"})


def made(evidence: Evidence) -> dict[str, Mutant]:
    return {mutant.id: mutant for mutant in mutants(Material.of(Story.of(evidence), READS))}


def calls(mutant: Mutant) -> list[tuple[str, object]]:
    return [(call.tool, call.arguments) for call in View(mutant.evidence).calls]


LIST = ("list_orders", {"shop": "main"})
A1 = ("refund", {"id": "A1", "amount": 10})
B2 = ("refund", {"id": "B2", "amount": 20})


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("drop-call:2", [LIST, B2]),
        ("duplicate-call:3", [LIST, A1, B2, B2]),
        ("reorder:1", [A1, LIST, B2]),
        ("reorder:2", [LIST, B2, A1]),
        ("swap-arg:2:id", [LIST, ("refund", {"id": "B2", "amount": 10}), B2]),
        ("swap-arg:3:amount", [LIST, A1, ("refund", {"id": "B2", "amount": 10})]),
        ("widen-filter:1:shop", [("list_orders", {}), A1, B2]),
        ("widen-filter:1:shop:*", [("list_orders", {"shop": "*"}), A1, B2]),
        ("extra-call:3:id", [LIST, A1, B2, ("refund", {"id": "A1", "amount": 20})]),
    ],
)
def test_an_operator_changes_the_calls(recorded: Evidence, id: str, expected: list[tuple[str, object]]) -> None:
    assert calls(made(recorded)[id]) == expected


def test_every_mutant_is_a_well_formed_run(recorded: Evidence, modelled: Evidence) -> None:
    for evidence in (recorded, modelled):
        for mutant in made(evidence).values():
            assert [event.seq for event in mutant.evidence.events] == list(range(len(mutant.evidence.events)))
            assert mutant.evidence != evidence


def test_only_state_changing_tools_are_called_once_more_and_only_reads_are_widened(recorded: Evidence) -> None:
    found = Counter((m.operator, m.use.call.tool) for m in made(recorded).values() if m.use is not None)
    assert ("extra-call", "list_orders") not in found
    assert ("widen-filter", "refund") not in found


def test_an_approval_is_swapped_with_its_call_and_stays_when_the_call_is_dropped(recorded: Evidence) -> None:
    found = made(recorded)
    swapped = [event.arguments for event in found["swap-arg:2:id"].evidence.of(Confirmed)]
    assert swapped == [{"id": "B2", "amount": 10}, {"id": "B2", "amount": 20}]
    assert len(list(found["drop-call:2"].evidence.of(Confirmed))) == 2


def test_a_report_is_falsified_without_any_call_changing(recorded: Evidence) -> None:
    found = {id: m for id, m in made(recorded).items() if m.operator == "misreport-outcome"}
    outputs = [next(m.evidence.of(Concluded)).output for m in found.values()]
    assert {"refunded": ["A1"], "total": 30} in outputs
    assert all(calls(mutant) == [LIST, A1, B2] for mutant in found.values())


def test_calls_of_one_message_are_not_reordered(modelled: Evidence) -> None:
    found = made(modelled)
    assert "reorder:2" not in found
    reordered = [event for event in found["reorder:1"].evidence.of(Decided) if event.call == "a"]
    assert reordered[0].known == ()


def test_what_is_dropped_informed_nothing(modelled: Evidence) -> None:
    dropped = made(modelled)["drop-call:1"].evidence
    assert {event.known for event in dropped.of(Decided)} == {()}
