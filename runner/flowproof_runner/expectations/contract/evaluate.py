"""`evaluate(contract, evidence) -> findings`: pure, and the same for live runs, replays, imports and mutants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from flowproof_runner.evidence.model import Denied, Evidence, Returned
from flowproof_runner.expectations.contract.checks import arguments, calls, confirmation, holds, lane, order, outcome
from flowproof_runner.expectations.contract.checks.each import elements
from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import (
    AnyExpectation,
    Arguments,
    Budget,
    Calls,
    Confirmation,
    Contract,
    Each,
    Holds,
    Lane,
    Order,
    Outcome,
    Precedence,
)
from flowproof_runner.expectations.contract.resolution.lasting import growing
from flowproof_runner.expectations.contract.resolution.resolver import Resolver
from flowproof_runner.expectations.contract.ruling import Place, Ruling, found, total
from flowproof_runner.expectations.contract.schema import Schemas
from flowproof_runner.expectations.contract.values import short
from flowproof_runner.expectations.contract.view import View
from flowproof_runner.expectations.contract.walk import reads_outcome
from flowproof_runner.findings import Finding


@dataclass(frozen=True, slots=True)
class Exercise:
    """How often an expectation had something to judge in a run."""

    id: str
    text: str
    times: int
    failed: bool
    where: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """All findings of a contract on one run, and how often each expectation was exercised."""

    findings: tuple[Finding, ...]
    exercised: tuple[Exercise, ...]


def evaluate(contract: Contract, evidence: Evidence, *, now: bool = False) -> tuple[Finding, ...]:
    """The findings of a contract on a run. `now`: of a run that goes on, judge what holds at this moment."""
    return judge(contract, evidence, now=now).findings


def judge(contract: Contract, evidence: Evidence, *, now: bool = False) -> Judgement:
    """The findings of a contract on a run, and what was exercised."""
    view = View(evidence)
    place = Place(view, Resolver(view), now=now)
    schemas = Schemas()
    findings = [*_fixture_misses(evidence), *_denials(evidence)]
    exercised: list[Exercise] = []
    blamed: set[int] = set()
    for expectation in contract.expectations:
        ruling = _ruled(expectation, place, schemas)
        if reads_outcome(expectation):
            blamed |= set(range(len(findings), len(findings) + len(ruling.findings)))
        findings += ruling.findings
        exercised.append(
            Exercise(expectation.id, line(expectation), ruling.exercised, bool(ruling.findings), expectation.where)
        )
    findings += _never_exercised(contract, exercised) if evidence.complete else ()
    findings = _with_causes(findings, blamed, contract, place)
    return Judgement(tuple(findings), tuple(exercised))


def _ruled(expectation: AnyExpectation, place: Place, schemas: Schemas) -> Ruling:
    match expectation:
        case Calls():
            return calls.judge(expectation, place)
        case Order():
            return order.judge_order(expectation, place)
        case Precedence():
            return order.judge_precedence(expectation, place)
        case Arguments():
            return arguments.judge(expectation, place, schemas)
        case Confirmation():
            return confirmation.judge(expectation, place)
        case Outcome():
            return outcome.judge(expectation, place, schemas)
        case Budget():
            return lane.judge_budget(expectation, place)
        case Lane():
            return lane.judge_lane(expectation, place)
        case Holds():
            return holds.judge(expectation, place)
        case Each():
            return _each(expectation, place, schemas)
        case _:
            assert_never(expectation)


def _each(expectation: Each, place: Place, schemas: Schemas) -> Ruling:
    if not (place.complete or place.now or growing(expectation.over)):
        return Ruling()
    values, problem = elements(expectation, place)
    if problem is not None:
        return Ruling((problem,), 1) if place.complete else Ruling()
    rulings = []
    for value in values:
        env = replace(place.env, each={**place.env.each, expectation.name: value})
        inner = replace(place, env=env)
        ruling = total(_ruled(body, inner, schemas) for body in expectation.body)
        rulings.append(_about(ruling, f"for {expectation.name} = {short(value)}", expectation))
    return total(rulings)


def _about(ruling: Ruling, element: str, expectation: Each) -> Ruling:
    """The ruling, its findings naming the element they are about."""
    findings = tuple(
        replace(f, where=f.where or expectation.where, detail="\n".join(filter(None, (element, f.detail))))
        for f in ruling.findings
    )
    return Ruling(findings, ruling.exercised)


def _fixture_misses(evidence: Evidence) -> list[Finding]:
    return [
        Finding(id="fixture.unmatched_call", message=f"no fixture of {event.tool} fits this call", seq=event.seq)
        for event in evidence.of(Returned)
        if event.fixture_miss
    ]


def _denials(evidence: Evidence) -> list[Finding]:
    return [
        Finding(
            id="dispatch.authorization_denied",
            message=f"{event.tool} was refused before dispatch: {event.reason}",
            severity="critical",
            seq=event.seq,
            actual=event.arguments,
        )
        for event in evidence.of(Denied)
    ]


def _never_exercised(contract: Contract, exercised: Iterable[Exercise]) -> list[Finding]:
    if not contract.strict:
        return []
    return [
        Finding(
            id="contract.not_exercised",
            message=f"nothing in this run put it to the test: {each.text}",
            where=each.where,
            path=each.id,
        )
        for each in exercised
        if not each.times
    ]


def _with_causes(findings: list[Finding], blamed: set[int], contract: Contract, place: Place) -> list[Finding]:
    """Name the one finding that explains others: a broken report, no report, or a divergence. Verdicts stay."""
    cause = None
    if place.view.outcome is None and place.complete and any(map(reads_outcome, contract.expectations)):
        cause = "outcome.unavailable"
    elif any(finding.id == "outcome.output_schema" for finding in findings):
        cause = "outcome.output_schema"
    if cause is not None:
        caused = [
            replace(finding, caused_by=cause) if place_ in blamed and finding.id != cause else finding
            for place_, finding in enumerate(findings)
        ]
        findings = [*caused, _unavailable(contract)] if cause == "outcome.unavailable" else caused
    if place.view.diverged:
        return [replace(f, caused_by=f.caused_by or "model.divergence") if f.seq is None else f for f in findings]
    return findings


def _unavailable(contract: Contract) -> Finding:
    first = next(each for each in contract.expectations if reads_outcome(each))
    return found(
        first,
        "outcome.unavailable",
        "the contract reads the run's structured outcome, but the run has none: say where it is with agent.output",
    )
