"""What a spec asks of containment, and what the run's containment report means for it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from flowproof_runner.containment import judge, plan, tier
from flowproof_runner.containment.plan import Plan
from flowproof_runner.containment.report import ContainmentReport
from flowproof_runner.expectations.ast import NoEgress, NoSideEffect, PlacedStep
from flowproof_runner.findings import Finding
from flowproof_runner.habitat.habitat import Habitat
from flowproof_runner.spec.file import LoadedSpec


def wanted(written: LoadedSpec, resolved: LoadedSpec) -> Plan:
    """The spec's plan. Raises EntryError, in the words of the spec as written, if an entry is no destination."""
    kinds = {type(each.step) for each in written.steps}
    return plan.plan(
        written.spec.agent.allow_egress,
        resolved.spec.agent.allow_egress,
        certify=NoEgress in kinds,
        writes=NoSideEffect in kinds,
        where=written.document.where(("agent", "allow_egress")),
    )


def unasked(spec: LoadedSpec) -> ContainmentReport:
    """The report of a run that nothing contained, with the reason."""
    return ContainmentReport(tier.UNCONTAINED.get(spec.spec.agent.driver, tier.NOT_ASKED))


def judged(step: PlacedStep, report: ContainmentReport, habitat: Habitat) -> Iterator[Finding]:
    """The findings of one containment step. What the agent writes into a home of the run's own is no side effect."""
    if isinstance(step.step, NoEgress):
        yield from judge.egress(report, step.where)
    elif isinstance(step.step, NoSideEffect):
        allowed = (_resolved(pattern, habitat.directory) for pattern in (*step.step.allowed, *habitat.scratch))
        yield from judge.writes(report, judge.Writes(tuple(allowed), step.where), str(habitat.directory))


def _resolved(pattern: str, directory: Path) -> str:
    """The glob with the links in its fixed part followed, as they are in what was seen."""
    full = str(directory / pattern)
    fixed = os.path.dirname(re.split(r"[*?]", full, maxsplit=1)[0])
    return os.path.realpath(fixed) + full[len(fixed) :]


def notes(written: LoadedSpec, report: ContainmentReport) -> Iterator[str]:
    """What people should know and no step judges."""
    certify = any(isinstance(each.step, NoEgress) for each in written.steps)
    yield from judge.notes(report, written.spec.agent.allow_egress, certify=certify)


def say_observed(report: ContainmentReport) -> None:
    """Print what files the agent destroyed; by design it is stored nowhere."""
    lines: Sequence[str] = judge.observation(report)
    if lines:
        print("\n".join(lines), file=sys.stderr, flush=True)
