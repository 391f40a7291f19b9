"""What one expectation came to, before causes are assigned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypedDict

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.model import Expectation
from flowproof_runner.expectations.contract.resolution.bag import Gap, Truth
from flowproof_runner.expectations.contract.resolution.env import Env
from flowproof_runner.expectations.contract.resolution.lasting import lasting
from flowproof_runner.expectations.contract.resolution.resolver import Resolver
from flowproof_runner.expectations.contract.terms import Formula
from flowproof_runner.expectations.contract.values import short
from flowproof_runner.expectations.contract.view import View
from flowproof_runner.findings import Candidate, Finding

_MOST = 20
"""Candidates that a finding carries."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where and over what an expectation is judged."""

    view: View
    resolver: Resolver
    env: Env = field(default_factory=Env)
    now: bool = False
    """What holds at this moment counts, whatever may follow: a call is about to be dispatched."""

    @property
    def complete(self) -> bool:
        """False where nothing may be concluded from what is absent."""
        return self.view.evidence.complete

    def open(self, truth: Truth) -> bool:
        """True when the rest of a broken run might have decided otherwise: the outcome was still to come."""
        return not self.complete and any(gap.kind == "outcome" for gap in truth.gaps)

    def settled(self, formula: Formula) -> bool:
        """True when what is concluded from this condition holds for good, though the run may go on."""
        return self.complete or self.now or lasting(formula)

    def truth(self, formula: Formula, env: Env | None = None) -> Truth:
        """Whether the formula holds here."""
        return self.resolver.truth(formula, self.env if env is None else env)

    def condition(self, formula: Formula) -> Truth:
        """Whether a `when` holds: every part of it must be readable."""
        return self.resolver.truth(formula, replace(self.env, strict=True))


@dataclass(frozen=True, slots=True)
class Ruling:
    """The findings of one expectation and how often it had something to judge."""

    findings: tuple[Finding, ...] = ()
    exercised: int = 0

    def __add__(self, other: Ruling) -> Ruling:
        return Ruling(self.findings + other.findings, self.exercised + other.exercised)


def total(rulings: Iterable[Ruling]) -> Ruling:
    """Several rulings as one."""
    every = list(rulings)
    return Ruling(tuple(f for ruling in every for f in ruling.findings), sum(ruling.exercised for ruling in every))


def found(expectation: Expectation, id: str, message: str, **more: object) -> Finding:
    """A finding of this expectation; `more` are fields of Finding."""
    return replace(Finding(id=id, message=message, where=expectation.where), **more)  # type: ignore[arg-type]  # checked by Finding


class Compared(TypedDict):
    """The fields of a finding about a comparison."""

    path: str
    expected: JsonValue
    actual: JsonValue
    candidates: tuple[Candidate, ...]
    detail: str


def compared(truth: Truth) -> Compared:
    """The first comparison that did not hold, as fields of a finding; the detail has all of them."""
    miss = truth.misses[0]
    told = miss.expected[:_MOST]
    return {
        "path": miss.path,
        "expected": told[0][0] if len(told) == 1 else [value for value, _ in told],
        "actual": miss.actual,
        "candidates": tuple(Candidate(value, seq) for value, seq in told),
        "detail": missed(truth),
    }


def unread(gaps: tuple[Gap, ...]) -> str:
    """Why something could not be read, in one line."""
    return "; ".join(dict.fromkeys(gap.text for gap in gaps))


def missed(truth: Truth) -> str:
    """What failed and what would have done, a line for each comparison."""
    lines = []
    for miss in truth.misses:
        actual = "nothing" if miss.absent else short(miss.actual)
        lines.append(f"{miss.text}: {actual}")
        for value, seq in miss.expected[:5]:
            lines.append(f"  would do: {short(value)}" + (f" [evidence {seq}]" if seq is not None else ""))
        if len(miss.expected) > 5:
            lines.append(f"  and {len(miss.expected) - 5} more")
    return "\n".join(lines)
