"""Mutants that are no fault: excluded from the score, each with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.contract.call import Call
from flowproof_runner.expectations.contract.values import key
from flowproof_runner.expectations.contract.view import View


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a run did, as far as anybody could mind."""

    outcome: Hashable
    changes: Counter[Hashable]
    """Calls that may change something, with their arguments."""
    reads: frozenset[Hashable]
    """Reads and their answers."""
    informed: tuple[tuple[Hashable, frozenset[Hashable]], ...]
    """For each changing call, the reads whose answers were known."""

    @staticmethod
    def of(evidence: Evidence, reads: frozenset[str]) -> Fingerprint:
        """The fingerprint of a run. `reads`: tools that change nothing."""
        view = View(evidence)
        told = {
            answer.call.id: (answer.call.tool, key(answer.call.arguments), key(answer.value), answer)
            for answers in view.answers.values()
            for answer in answers
        }
        changing = [call for call in view.calls if not any(name in reads for name in call.names)]
        looked = {id: row[:3] for id, row in told.items() if any(name in reads for name in row[3].call.names)}
        informed = tuple(
            (_what(call), frozenset(looked[id] for id in looked if view.informs(told[id][3], call)))
            for call in changing
        )
        outcome = view.outcome
        return Fingerprint(
            (outcome.status, key(outcome.output)) if outcome is not None else None,
            Counter(map(_what, changing)),
            frozenset(looked.values()),
            informed,
        )


def equivalent(baseline: Fingerprint, mutant: Fingerprint) -> str | None:
    """Why a mutant is no fault, None if it may be one.

    Changing calls may move and reads may be repeated, as long as each changing call still knew all that it knew.
    """
    if mutant.outcome != baseline.outcome or mutant.changes != baseline.changes or mutant.reads != baseline.reads:
        return None
    knew: dict[Hashable, list[frozenset[Hashable]]] = {}
    for call, reads in baseline.informed:
        knew.setdefault(call, []).append(reads)
    for call, reads in mutant.informed:
        before = knew[call].pop(0)
        if not before <= reads:
            return None
    return "same changes, same outcome, and every change knew at least what it knew before"


def _what(call: Call) -> Hashable:
    return (call.tool, key(call.arguments))
