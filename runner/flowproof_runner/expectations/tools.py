"""Judges the steps about tool calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from flowproof_runner.evidence.model import Asked, Decided, Evidence
from flowproof_runner.expectations.ast import CallAssertion, Kind
from flowproof_runner.expectations.calls import Call, meets, offered
from flowproof_runner.expectations.judgement import CallLimit, Judgement, Note, StepResult
from flowproof_runner.expectations.missed import candidates, nearest, turn
from flowproof_runner.expectations.sequence import claim
from flowproof_runner.expectations.words import call_words, shown, step_words
from flowproof_runner.findings import Finding

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Demand:
    """A tool assertion and where it stands."""

    assertion: CallAssertion
    number: int
    where: str

    def result(self, passed: bool, matched: Iterable[Call] = (), note: str = "") -> StepResult:
        """How it fared."""
        seqs = tuple(call.seq for call in matched)
        return StepResult(self.number, step_words(self.assertion), self.where, passed, seqs, note)


def ordered(demands: Sequence[Demand], calls: Sequence[Call], evidence: Evidence) -> tuple[Judgement, list[Call]]:
    """Judge demands of one kind that must be met in their order; also gives the calls they claim."""
    findings: list[Finding] = []
    results: list[StepResult] = []
    open_demands = list(demands)
    for demand in [each for each in demands if each.assertion.times]:
        wrong = _miscounted(demand, calls)
        if wrong:
            open_demands.remove(demand)
            findings.append(wrong)
            results.append(demand.result(False, _fitting(demand, calls), wrong.message))
    while True:
        slots = [demand for demand in open_demands for _ in range(demand.assertion.times or 1)]
        claimed = claim(slots, calls, lambda demand, call: meets(demand.assertion, call), lambda call: call.group)
        if len(claimed) == len(slots):
            break
        missed = slots[len(claimed)]
        open_demands.remove(missed)
        findings.append(_missing(missed, calls, claimed, evidence))
        results.append(missed.result(False, note=findings[-1].message))
    for demand in open_demands:
        mine = [call for slot, call in zip(slots, claimed, strict=True) if slot is demand]
        results.append(demand.result(True, mine))
    return Judgement(tuple(findings), (), tuple(results)), claimed


def never(demand: Demand, calls: Sequence[Call], evidence: Evidence) -> Judgement:
    """Judge a demand that something is nowhere in the run."""
    guilty = _fitting(demand, calls)
    if guilty:
        finding = _forbidden(demand, guilty)
        return Judgement((finding,), (), (demand.result(False, guilty, finding.message),))
    doubt = _doubt(evidence)
    if doubt:
        unknown = _finding(demand, "unknown", f"cannot tell that {_subject(demand)} never happened: {doubt}")
        return Judgement((unknown,), (), (demand.result(False, (), unknown.message),))
    notes = _vacuous(demand, calls, evidence)
    return Judgement((), notes, (demand.result(True, (), notes[0].message if notes else ""),))


def unclaimed(calls: Sequence[Call], claimed: Sequence[Call], where: str) -> tuple[Finding, ...]:
    """A finding for each call that no assertion claims, as `strict: true` demands."""
    known = {call.call for call in claimed}
    return tuple(
        Finding(
            id="tool.call.unclaimed",
            message=f"strict: no assert_tool_call claims {call.tool} {turn(call)} with {shown(call.arguments)}",
            where=where,
            seq=call.seq,
            actual=call.arguments,
        )
        for call in calls
        if call.counts and call.call not in known
    )


def exhausted(limits: Iterable[CallLimit], evidence: Evidence) -> tuple[Finding, ...]:
    """A finding for each tool that was called more often than it has results.

    What a model asked for and its adapter then asked for in turn is one call: the lane with more of them counts.
    """
    findings: list[Finding] = []
    for limit in limits:
        by_lane: dict[str, list[Decided]] = {}
        for event in evidence.of(Decided):
            if event.tool == limit.tool:
                by_lane.setdefault(event.lane, []).append(event)
        decided = max(by_lane.values(), key=len, default=[])
        if len(decided) > limit.results:
            have = f"{limit.results} result{'s' if limit.results > 1 else ''}"
            said = f"{limit.tool} was called {len(decided)} times, but has {have}"
            extra = decided[limit.results]
            findings.append(Finding(id="tool.results.exhausted", message=said, where=limit.where, seq=extra.seq))
    return tuple(findings)


def _fitting(demand: Demand, calls: Sequence[Call]) -> list[Call]:
    return [call for call in calls if meets(demand.assertion, call)]


def _miscounted(demand: Demand, calls: Sequence[Call]) -> Finding | None:
    fitting = _fitting(demand, calls)
    wanted = demand.assertion.times
    if wanted is None or len(fitting) == wanted:
        return None
    turns = f" {', '.join(turn(call) for call in fitting[:_SHOWN])}" if fitting else ""
    found = f"there {'was' if len(fitting) == 1 else 'were'} {len(fitting) or 'none'}{turns}"
    said = f"expected exactly {wanted} call{'s' if wanted > 1 else ''} of {_plain(demand)}; {found}"
    return _finding(demand, "count", said, detail=candidates(demand.assertion, calls))


def _missing(demand: Demand, calls: Sequence[Call], claimed: Sequence[Call], evidence: Evidence) -> Finding:
    said = f"expected {_subject(demand)}; {nearest(demand.assertion, calls, claimed[-1] if claimed else None, claimed)}"
    if demand.assertion.tool not in offered(evidence) and not any(demand.assertion.tool in c.names for c in calls):
        said += "; the model was never offered it"
    doubt = _doubt(evidence)
    return _finding(
        demand,
        "missing",
        f"{said}; {doubt}" if doubt else said,
        detail=candidates(demand.assertion, calls),
    )


def _forbidden(demand: Demand, guilty: Sequence[Call]) -> Finding:
    first = guilty[0]
    more = f" and {len(guilty) - 1} more" if len(guilty) > 1 else ""
    verb = "asked for" if demand.assertion.kind == "no_request" else "called"
    said = f"{_plain(demand)} must never be {verb}, but was {turn(first)} with {shown(first.arguments)}{more}"
    return Finding(
        id=f"tool.{_kind(demand.assertion.kind)}.forbidden",
        message=said,
        severity="critical" if any(call.dispatched for call in guilty) else "error",
        where=demand.where,
        detail="\n".join(f"{call.tool} {turn(call)} {shown(call.arguments, 400)}" for call in guilty[:_SHOWN]),
        seq=first.seq,
        actual=first.arguments,
    )


def _finding(demand: Demand, what: str, message: str, detail: str = "") -> Finding:
    kind = _kind(demand.assertion.kind)
    return Finding(id=f"tool.{kind}.{what}", message=message, where=demand.where, detail=detail)


def _kind(kind: Kind) -> str:
    return "request" if kind in ("request", "no_request") else "call"


def _plain(demand: Demand) -> str:
    return call_words(replace(demand.assertion, times=None))


def _subject(demand: Demand) -> str:
    a = "a request for" if _kind(demand.assertion.kind) == "request" else "a call of"
    return f"{a} {_plain(demand)}"


def _doubt(evidence: Evidence) -> str:
    """Why nothing may be concluded from what is absent; empty when it may."""
    if not evidence.complete:
        return "the run did not come to its end"
    return "" if any(evidence.of(Asked)) else "no model request was seen"


def _vacuous(demand: Demand, calls: Sequence[Call], evidence: Evidence) -> tuple[Note, ...]:
    tool = demand.assertion.tool
    if tool in offered(evidence) or any(tool in call.names for call in calls):
        return ()
    said = f"{step_words(demand.assertion)} proves nothing: the model was never offered {tool!r}"
    return (Note("tool.vacuous", said, demand.where),)
