"""All that is wrong with a finished run, causes first, into its draft."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from flowproof_addons.dialects.base import Registry
from flowproof_addons.trace.model import JsonValue, Trace
from flowproof_runner import containing, secrets, verdicts
from flowproof_runner.boundary import Outcome
from flowproof_runner.draft import Draft
from flowproof_runner.drivers.base import DriverResult
from flowproof_runner.evidence.build import build
from flowproof_runner.expectations.ast import NoEgress, NoSecretLeak, NoSideEffect, PlacedStep
from flowproof_runner.expectations.judge import judge as assertions
from flowproof_runner.expectations.judgement import CallLimit
from flowproof_runner.expectations.words import step_words
from flowproof_runner.findings import Finding
from flowproof_runner.result import PinUse, StepResult
from flowproof_runner.spec import session


def judge(draft: Draft, outcome: Outcome, trace: Trace, registry: Registry, recorded: Trace | None = None) -> None:
    """Judge a run by how its agent ended, what crossed the boundary and what its spec asserts.

    `recorded` is the cassette at replay.
    """
    assert draft.agent is not None
    here = draft.spec.document.where(("agent",))
    draft.add(verdicts.of_problems(outcome.problems, here))
    draft.add(verdicts.of_divergences(outcome.divergences, here))
    draft.add(verdicts.of_entries((*outcome.findings, *_lane_findings(outcome)), here))
    _agent(draft, draft.agent, here)
    if not outcome.turns:
        draft.add([_no_request(draft, recorded, here)])
    elif recorded is not None:
        draft.add(verdicts.unserved(outcome.unserved, recorded.exchanges, here, draft.cause))
    if recorded is not None:
        draft.notes += verdicts.unserved_notes(outcome.unserved, recorded.exchanges)
        draft.pins = _pins(draft, outcome)
    draft.notes += outcome.hints
    _assertions(draft, trace, registry)


def _agent(draft: Draft, result: DriverResult, here: str) -> None:
    agent = draft.spec.spec.agent
    draft.add(verdicts.of_agent(result, agent.expect_exit.accepted, agent.timeout, here, draft.cause))


def _no_request(draft: Draft, recorded: Trace | None, here: str) -> Finding:
    cause = draft.findings[0].id if draft.findings else None
    return verdicts.no_request(draft.phase, len(recorded.turns) if recorded else 0, here, cause)


def _assertions(draft: Draft, trace: Trace, registry: Registry) -> None:
    spec, cause = draft.resolved, draft.cause
    evidence = build(trace, registry, mocks=session.tool_mocks(spec.spec), complete=cause is None)
    strict = spec.document.where(("strict",)) if spec.spec.strict else None
    judgement = assertions(spec.steps, evidence, strict=strict, limits=_limits(draft))
    draft.add(replace(found, caused_by=found.caused_by or _follows(found, cause)) for found in judgement.findings)
    controls = [_control(draft, trace, step) for step in judgement.unjudged]
    draft.add(found for findings, _ in controls for found in findings)
    draft.notes += (note.message for note in judgement.notes)
    draft.steps = [
        StepResult(number=step.number, text=step.text, ok=step.passed, where=step.where, note=step.note)
        for step in judgement.steps
    ]
    draft.steps = sorted([*draft.steps, *(step for _, step in controls)], key=lambda step: step.number)


def _limits(draft: Draft) -> Iterator[CallLimit]:
    """Tools with as many results as calls, unless the boundary already refused the call too many."""
    if any(found.id == verdicts.EXHAUSTED for found in draft.findings):
        return
    for number, tool in enumerate(draft.spec.spec.tools):
        if tool.results:
            yield CallLimit(tool.name, len(tool.results), draft.spec.document.where(("tools", number)))


def _control(draft: Draft, trace: Trace, step: PlacedStep) -> tuple[tuple[Finding, ...], StepResult]:
    """Judge a step that reads more than the evidence: the network, the disk, secrets."""
    findings = tuple(_judged(draft, trace, step))
    result = StepResult(
        number=step.number,
        text=step_words(step.step),
        ok=not findings,
        where=step.where,
        note=findings[0].message if findings else "",
    )
    return findings, result


def _judged(draft: Draft, trace: Trace, step: PlacedStep) -> Iterator[Finding]:
    match step.step:
        case NoSecretLeak():
            assert draft.agent is not None
            printed = {"stdout": draft.agent.stdout, "stderr": draft.agent.stderr}
            outputs = {name: path for name, path in printed.items() if path is not None}
            yield from secrets.judge(step, draft.scrubber.secrets, trace, outputs)
        case NoEgress() | NoSideEffect():
            assert draft.contained is not None
            yield from containing.judged(step, draft.contained, draft.directory)
        case _:
            yield _unjudged(step)


def _unjudged(step: PlacedStep) -> Finding:
    """A step that nothing judged is never a pass."""
    return Finding(
        id="assertion.unjudged",
        kind="problem",
        message=f"step {step.number} cannot be judged by this flowproof",
        where=step.where,
    )


def _follows(found: Finding, cause: str | None) -> str | None:
    """What happened and was forbidden stands for itself; what is missing follows from the run's early end."""
    return None if found.severity == "critical" else cause


def _pins(draft: Draft, outcome: Outcome) -> tuple[PinUse, ...]:
    pins = draft.spec.spec.pins
    return tuple(PinUse(name=pin.label, count=outcome.pins.get(pin.label, 0), why=pin.why) for pin in pins)


def _lane_findings(outcome: Outcome) -> list[Mapping[str, JsonValue]]:
    lanes = (value for value in outcome.lanes.values() if isinstance(value, dict))
    entries = (entry for lane in lanes for entry in _list(lane.get("findings")))
    return [entry for entry in entries if isinstance(entry, dict)]


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
