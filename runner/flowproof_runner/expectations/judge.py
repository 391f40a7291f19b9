"""Judges a run by the steps of its spec."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations import reply, tools
from flowproof_runner.expectations.ast import CallAssertion, Kind, PlacedStep, Prompt, ReplyAssertion
from flowproof_runner.expectations.calls import calls
from flowproof_runner.expectations.judgement import CallLimit, Judgement
from flowproof_runner.expectations.tools import Demand


def judge(
    steps: Sequence[PlacedStep],
    evidence: Evidence,
    *,
    strict: str | None = None,
    limits: Iterable[CallLimit] = (),
) -> Judgement:
    """Judge tool and reply steps; the others come back as `unjudged`.

    `strict`: `file:line` of `strict: true`, which every call must be claimed for; None when it is off.
    """
    seen = calls(evidence)
    called, claimed = tools.ordered(_demands(steps, "call"), seen, evidence)
    parts = [called, tools.ordered(_demands(steps, "request"), seen, evidence)[0]]
    parts += [tools.never(each, seen, evidence) for each in _demands(steps, "no_call", "no_request")]
    parts += [reply.judged(each, each.step, evidence) for each in steps if isinstance(each.step, ReplyAssertion)]
    if strict is not None:
        parts.append(Judgement(tools.unclaimed(seen, claimed, strict)))
    parts.append(Judgement(tools.exhausted(limits, evidence)))
    others = [each for each in steps if not isinstance(each.step, Prompt | CallAssertion | ReplyAssertion)]
    return Judgement(
        tuple(finding for part in parts for finding in part.findings),
        tuple(note for part in parts for note in part.notes),
        tuple(sorted((step for part in parts for step in part.steps), key=lambda step: step.number)),
        tuple(others),
    )


def _demands(steps: Iterable[PlacedStep], *kinds: Kind) -> list[Demand]:
    return [
        Demand(each.step, each.number, each.where)
        for each in steps
        if isinstance(each.step, CallAssertion) and each.step.kind in kinds
    ]
