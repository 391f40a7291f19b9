"""`flowproof heal`: record again, show what changed, and keep it when asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.registry import default
from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.process import BoundaryProcess
from flowproof_runner.findings import Exit
from flowproof_runner.flow.draft import skipped, unreadable
from flowproof_runner.flow.flows import Flows
from flowproof_runner.flow.plan import Surroundings
from flowproof_runner.heal import summary
from flowproof_runner.heal.proposal import Proposal, propose
from flowproof_runner.invocation.invocation import Invocation, Job
from flowproof_runner.invocation.jobs import parallel
from flowproof_runner.invocation.specs import Given, given
from flowproof_runner.program import streams, writing
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.records import runs
from flowproof_runner.report import style
from flowproof_runner.report.style import Style
from flowproof_runner.result import FlowResult
from flowproof_runner.targets import selection
from flowproof_runner.targets.specs import collect


def heal(paths: Sequence[Path], *, apply: bool, markdown: Path | None, jobs: str = "1") -> int:
    """Do it for every spec, so many at a time; the exit code. Nothing is applied unless everything holds."""
    shell, start, at_a_time = dict(os.environ), Path.cwd(), parallel(jobs)
    files = collect(paths)
    folder = runs.create(start, shell, datetime.now(UTC))
    with BoundaryProcess(folder.path / "boundary") as process, Boundary(process) as boundary:
        flows = Flows(boundary, Surroundings(shell, start, default()), proposing=True)
        specs = given(files, "record", record_missing=False, wanted=selection.EVERYTHING)
        proposals = _proposals(specs, flows, folder, at_a_time)
    tried = [one for one in proposals if one.result.verdict != "skip"]
    applied = apply and bool(tried) and all(one.recorded for one in tried)
    for one in tried if applied else ():
        one.apply()
    print(summary.text(proposals, applied, apply, Style(style.wanted(shell, sys.stdout.isatty()))), end="")
    for path in (folder.path / "heal.md", markdown):
        if path is not None:
            writing.write(path, summary.markdown(proposals, applied))
    return _code(tried, applied)


class _Progress:
    """Says on stderr how far it is: a recording takes as long as its model does."""

    def started(self, job: Job) -> None:
        """Nothing to say yet."""

    def finished(self, job: Job, result: FlowResult) -> None:
        """A word on the flow."""
        word = {"pass": "recorded again", "skip": "skipped"}.get(result.verdict, "does not hold")
        streams.tell(f"{job.spec}: {word} ({result.duration_s:.1f} s)\n", sys.stderr)


def _proposals(specs: Sequence[Given], flows: Flows, folder: runs.RunFolder, at_a_time: int) -> tuple[Proposal, ...]:
    """One for each spec, in their order."""
    made: dict[int, Proposal] = {}

    def run(job: Job) -> FlowResult:
        made[job.index] = proposal = _proposal(specs[job.index], flows, folder.flow(job.index, job.spec))
        return proposal.result

    def left_out(job: Job, reason: str) -> FlowResult:
        return skipped(job.spec, job.name, "record", reason)

    plan = [Job(index, spec.path, spec.name, spec.ports) for index, spec in enumerate(specs)]
    Invocation(run, left_out, _Progress(), at_a_time, cancelled=flows.cancelled).execute(plan)
    return tuple(made[job.index] for job in plan)


def _proposal(spec: Given, flows: Flows, folder: Path) -> Proposal:
    try:
        if isinstance(spec.loaded, SpecError):
            raise spec.loaded
        return propose(spec.loaded, flows.within(spec.suite), folder)
    except FlowproofError as error:
        return Proposal(spec.path, unreadable(spec.path, "record", error))


def _code(tried: Sequence[Proposal], applied: bool) -> int:
    worst = max((one.result.exit_code for one in tried), default=int(Exit.PASS))
    if worst or applied:
        return worst
    return Exit.FAILED if any(one.difference for one in tried) else Exit.PASS
