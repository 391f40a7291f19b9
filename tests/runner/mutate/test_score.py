"""Scores, survivors, what is no fault, and the control."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.findings import Exit
from flowproof_runner.mutate.command import exit_of
from flowproof_runner.mutate.score import Subject, reading, study
from flowproof_runner.mutate.worlds import Visit

THOROUGH = {
    "calls": ["list_orders"],
    "order": ["list_orders before refund"],
    "args": ["list_orders where shop equals main", "refund distinct id"],
    "each": [
        {
            "for": "list_orders.orders as o",
            "expect": ["exactly 1 refund where id equals o.id and amount equals o.amount"],
        }
    ],
    "holds": ["refund.args.id same set as list_orders.orders[].id"],
    "confirm": ["refund needs adapter approved with same arguments"],
    "outcome": {
        "where": [
            "out.refunded same set as refund.args.id",
            "out.total equals sum(refund.args.amount)",
        ]
    },
}


def test_thorough_checks_catch_everything_and_the_control_next_to_nothing(
    recorded: Evidence, contract: Callable[..., Contract]
) -> None:
    found = study(Subject.of(contract(**THOROUGH), recorded), recorded)
    assert found.baseline == ()
    assert found.score.survivors == ()
    assert found.score.overblocked == ()
    assert found.without_outcome is not None
    assert found.without_outcome.survivors == ()
    assert found.control.percent < 10
    assert found.control.scorable == found.score.scorable


def test_a_survivor_comes_with_what_would_have_caught_it(recorded: Evidence, contract: Callable[..., Contract]) -> None:
    lax = study(Subject.of(contract(calls=["list_orders", "refund at least once"]), recorded), recorded)
    advice = {survivor.mutant.id: survivor.would_kill for survivor in lax.score.survivors}
    assert advice["swap-arg:3:amount"] == "args: refund where amount equals result(list_orders).orders[id = $id].amount"
    assert advice["reorder:1"] == "order: list_orders before refund"
    assert advice["misreport-outcome:total"] == "outcome: out.total equals sum(args(refund).amount)"
    assert advice["drop-call:3"] == "calls: refund at least 2 times"
    assert advice["extra-call:2:id"] == "args: refund distinct id"


def test_what_is_advised_accepts_the_run_and_rejects_the_fault(
    recorded: Evidence, modelled: Evidence, contract: Callable[..., Contract]
) -> None:
    for run in (recorded, modelled):
        survivors = study(Subject.of(Contract(), run), run).score.survivors
        assert len(survivors) > 10
        for survivor in survivors:
            section, _, line = survivor.would_kill.partition(": ")
            advised = contract(**{section: [line]})
            assert evaluate(advised, run) == ()
            assert evaluate(advised, survivor.mutant.evidence) != ()


def test_moving_changes_and_reading_again_is_no_fault(recorded: Evidence, contract: Callable[..., Contract]) -> None:
    found = study(Subject.of(contract(**THOROUGH), recorded), recorded)
    assert {mutant.id for mutant, _ in found.score.equivalents} == {"duplicate-call:1", "reorder:2"}


def test_checks_that_reject_what_is_no_fault_are_told(recorded: Evidence, contract: Callable[..., Contract]) -> None:
    found = study(Subject.of(contract(calls=["list_orders", "exactly 1 of list_orders"]), recorded), recorded)
    assert [mutant.id for mutant in found.score.overblocked] == ["duplicate-call:1"]


def test_reading_tools_are_known_by_their_verb(recorded: Evidence) -> None:
    assert reading(recorded) == {"list_orders"}


@pytest.mark.parametrize(
    ("threshold", "worlds", "expected"),
    [
        (None, (), Exit.PASS),
        (100.0, (), Exit.FAILED),
        (1.0, (), Exit.PASS),
        (None, (Visit("w", "", "false alarm"),), Exit.FAILED),
        (1.0, (Visit("w", "", "invalid", "the agent was wrong"),), Exit.UNUSABLE),
    ],
)
def test_the_exit_code_follows_the_threshold_and_the_worlds(
    recorded: Evidence,
    contract: Callable[..., Contract],
    threshold: float | None,
    worlds: tuple[Visit, ...],
    expected: Exit,
) -> None:
    found = study(Subject.of(contract(calls=["list_orders", "refund at least 2 times"]), recorded), recorded)
    assert exit_of(found, worlds, threshold) == expected
