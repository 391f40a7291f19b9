"""Judges a run by the steps of its spec."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from flowproof_runner.evidence import scope
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations import reply, tools
from flowproof_runner.expectations.ast import CallAssertion, Kind, PlacedStep, Prompt, ReplyAssertion
from flowproof_runner.expectations.calls import Call, calls
from flowproof_runner.expectations.judgement import CallLimit, Judgement, StepResult
from flowproof_runner.expectations.tools import Demand
from flowproof_runner.expectations.words import step_words


def judge(
    steps: Sequence[PlacedStep],
    evidence: Evidence,
    *,
    strict: str | None = None,
    limits: Iterable[CallLimit] = (),
) -> Judgement:
    """Judge tool and reply steps; the others come back as `unjudged`.

    Steps of a conversation's user turn see what came of it and nothing else. One that came to no model request meets
    no demand, not even a negative one; whoever asked must see to it that this is a finding of its own.

    `strict`: `file:line` of `strict: true`, which every call must be claimed for; None when it is off.
    """
    parts, claimed = _of_all(steps, evidence)
    for user_turn in sorted({each.user_turn for each in steps if each.user_turn is not None}):
        own = [each for each in steps if each.user_turn == user_turn]
        inner, more = _of_turn(own, user_turn, scope.within(evidence, user_turn))
        parts, claimed = [*parts, *inner], [*claimed, *more]
    if strict is not None:
        parts.append(Judgement(tools.unclaimed(calls(evidence), claimed, strict)))
    parts.append(Judgement(tools.exhausted(limits, evidence)))
    others = [each for each in steps if not isinstance(each.step, Prompt | CallAssertion | ReplyAssertion)]
    return Judgement(
        tuple(finding for part in parts for finding in part.findings),
        tuple(note for part in parts for note in part.notes),
        tuple(sorted((step for part in parts for step in part.steps), key=lambda step: step.number)),
        tuple(others),
    )


def _of_all(steps: Sequence[PlacedStep], evidence: Evidence) -> tuple[list[Judgement], list[Call]]:
    """The steps that see the whole run, and the calls they claim."""
    return _judged([each for each in steps if each.user_turn is None], evidence)


def _of_turn(steps: Sequence[PlacedStep], user_turn: int, evidence: Evidence) -> tuple[list[Judgement], list[Call]]:
    """The steps of one user turn, over its own evidence."""
    if not scope.asked(evidence):
        said = f"user turn {user_turn} came to no model request"
        results = (StepResult(each.number, step_words(each.step), each.where, False, (), said) for each in steps)
        return [Judgement((), (), tuple(results))], []
    parts, claimed = _judged(steps, evidence)
    return [_named(part, user_turn) for part in parts], claimed


def _named(part: Judgement, user_turn: int) -> Judgement:
    findings = (
        replace(found, message=f"user turn {user_turn}: {found.message}", user_turn=user_turn)
        for found in part.findings
    )
    notes = (replace(note, message=f"user turn {user_turn}: {note.message}") for note in part.notes)
    return replace(part, findings=tuple(findings), notes=tuple(notes))


def _judged(steps: Sequence[PlacedStep], evidence: Evidence) -> tuple[list[Judgement], list[Call]]:
    seen = calls(evidence)
    called, claimed = tools.ordered(_demands(steps, "call"), seen, evidence)
    parts = [called, tools.ordered(_demands(steps, "request"), seen, evidence)[0]]
    parts += [tools.never(each, seen, evidence) for each in _demands(steps, "no_call", "no_request")]
    parts += [reply.judged(each, each.step, evidence) for each in steps if isinstance(each.step, ReplyAssertion)]
    return parts, claimed


def _demands(steps: Iterable[PlacedStep], *kinds: Kind) -> list[Demand]:
    return [
        Demand(each.step, each.number, each.where)
        for each in steps
        if isinstance(each.step, CallAssertion) and each.step.kind in kinds
    ]
