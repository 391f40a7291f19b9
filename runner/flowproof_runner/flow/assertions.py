"""Everything a spec asserts, judged on one run: its steps, its contract, its controls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from flowproof_addons.dialects.base import Registry
from flowproof_addons.trace.model import Trace
from flowproof_runner.expectations.ast import NoEgress, NoSecretLeak, NoSideEffect, PlacedStep
from flowproof_runner.expectations.contract import evaluate
from flowproof_runner.expectations.judge import judge as judge_steps
from flowproof_runner.expectations.judgement import CallLimit
from flowproof_runner.expectations.words import step_words
from flowproof_runner.findings import Finding
from flowproof_runner.flow import containing, observed, verdicts
from flowproof_runner.flow.draft import Draft
from flowproof_runner.result import Expected, StepResult
from flowproof_runner.secrecy import secrets


def judge(draft: Draft, trace: Trace, registry: Registry) -> None:
    """Put what is wrong, the notes and one result a step into the draft."""
    spec, cause = draft.resolved, draft.cause
    evidence = observed.evidence(draft, trace, registry)
    strict = spec.document.where(("strict",)) if spec.spec.strict else None
    judgement = judge_steps(spec.steps, evidence, strict=strict, limits=_limits(draft))
    contract = evaluate.judge(draft.contract, evidence)
    controls = [_control(draft, trace, step) for step in judgement.unjudged]
    told = {(found.id, found.path) for found in draft.findings}
    fresh = (found for found in contract.findings if (found.id, found.path) not in told)
    draft.add(
        replace(found, caused_by=found.caused_by or _follows(found, cause)) for found in (*judgement.findings, *fresh)
    )
    draft.add(found for findings, _ in controls for found in findings)
    draft.expectations = [
        Expected(id=each.id, text=each.text, times=each.times, ok=not each.failed, where=each.where)
        for each in contract.exercised
    ]
    if cause is None and not draft.contract.strict:
        draft.notes += (
            f"nothing in this run put it to the test: {each.text}" for each in contract.exercised if not each.times
        )
    draft.notes += (note.message for note in judgement.notes)
    draft.notes += observed.uncaught(draft, evidence)
    user_turns = {each.number: each.user_turn for each in spec.steps}
    steps = [
        StepResult(
            number=step.number,
            text=step.text,
            ok=step.passed,
            where=step.where,
            note=step.note,
            user_turn=user_turns[step.number],
        )
        for step in judgement.steps
    ]
    draft.steps = sorted([*steps, *(step for _, step in controls)], key=lambda step: step.number)


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
            yield from containing.judged(step, draft.contained, draft.habitat)
        case _:
            yield Finding(  # a step that nothing judged is never a pass
                id="assertion.unjudged",
                kind="problem",
                message=f"step {step.number} cannot be judged by this flowproof",
                where=step.where,
            )


def _follows(found: Finding, cause: str | None) -> str | None:
    """What happened and was forbidden stands for itself; what is missing follows from the run's early end."""
    return None if found.severity == "critical" else cause
