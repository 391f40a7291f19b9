"""Specs in, flows run over one boundary, reports out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.registry import default
from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.process import BoundaryProcess
from flowproof_runner.flow.draft import relative, skipped, unreadable
from flowproof_runner.flow.flows import Flows
from flowproof_runner.flow.plan import Surroundings
from flowproof_runner.inspect.holding import announce, hold
from flowproof_runner.invocation.asked import Options, Start
from flowproof_runner.invocation.invocation import Invocation, Job
from flowproof_runner.invocation.progress import shown
from flowproof_runner.invocation.publish import Outlet
from flowproof_runner.invocation.specs import Given, given
from flowproof_runner.program.interruption import Interrupted
from flowproof_runner.program.version import version
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.records import runs
from flowproof_runner.report import causes
from flowproof_runner.result import FlowResult, RunResult, overall
from flowproof_runner.targets import selection


def run_flows(
    options: Options,
    start: Start,
    jobs: int,
    paths: Sequence[Path],
    wanted: selection.Selection,
    folder: runs.RunFolder,
    process: BoundaryProcess,
) -> int:
    """Run what is wanted and publish the results; the exit code."""
    outlet = Outlet(start.shell, options.json, options.junit, options.html)
    with Boundary(process) as boundary:
        if options.web is not None:
            announce(boundary, outlet.stream)
        flows = Flows(boundary, Surroundings(start.shell, start.folder, default()))
        specs = given(paths, options.command, record_missing=options.record_missing, wanted=wanted)
        results, signal = _flows(specs, flows, folder, jobs, options.fail_fast, outlet)
        if options.twice and signal is None:
            results = tuple(_twice(specs, results, flows, folder, options.write, outlet))
        run = summed(options.command, results, folder, start, signal)
        outlet.publish(run, folder.path)
        if options.web is not None and signal is None:
            hold(boundary, outlet.stream)
    if signal is not None:
        raise signal
    return run.exit_code


def _twice(
    specs: Sequence[Given],
    results: Sequence[FlowResult],
    flows: Flows,
    folder: runs.RunFolder,
    write: bool,
    outlet: Outlet,
) -> Iterator[FlowResult]:
    """The results of what was recorded, with what running it again shows."""
    from flowproof_runner.volatility import telling, twice

    numbers = count(len(specs))
    for spec, result in zip(specs, results, strict=True):
        if isinstance(spec.loaded, SpecError) or result.verdict != "pass":
            yield result
            continue
        second = twice.again(spec.loaded, flows.within(spec.suite), partial(_next_folder, folder, numbers, spec.path))
        written = write and bool(second.pins)
        if written:
            twice.write(second)
        told = telling.with_second(result, second, written)
        print(telling.headline(told), file=outlet.stream, flush=True)
        if written and told.again is not None:
            print(*(f"  {line}" for line in telling.lines(told.again)), sep="\n", file=outlet.stream, flush=True)
        yield told


def _next_folder(folder: runs.RunFolder, numbers: Iterator[int], spec: Path) -> Path:
    return folder.flow(next(numbers), spec)


def _flows(
    specs: Sequence[Given], flows: Flows, folder: runs.RunFolder, jobs: int, fail_fast: bool, outlet: Outlet
) -> tuple[tuple[FlowResult, ...], Interrupted | None]:
    """The results, and the signal that cut them short."""

    def run(job: Job) -> FlowResult:
        spec = specs[job.index]
        if isinstance(spec.loaded, SpecError):
            return unreadable(spec.path, spec.phase, spec.loaded)
        try:
            around = flows.within(spec.suite)
        except FlowproofError as error:
            return unreadable(spec.path, spec.phase, error)
        return around.run(spec.loaded, spec.phase, folder.flow(job.index, spec.path))

    def left_out(job: Job, reason: str) -> FlowResult:
        return skipped(job.spec, job.name, specs[job.index].phase, reason)

    plan = [Job(index, spec.path, spec.name, spec.ports) for index, spec in enumerate(specs)]
    with shown(outlet.stream, outlet.style, len(plan)) as watcher:
        invocation = Invocation(run, left_out, watcher, jobs, fail_fast, flows.cancelled)
        try:
            return invocation.execute(plan), None
        except Interrupted as signal:
            return invocation.so_far(plan), signal


def summed(
    command: Literal["run", "record"],
    results: tuple[FlowResult, ...],
    folder: runs.RunFolder,
    start: Start,
    signal: Interrupted | None,
) -> RunResult:
    """The result of the whole invocation. `signal`: what cut it short."""
    verdict, code = overall(results) if signal is None else ("error", signal.exit_code)
    return RunResult(
        flowproof=version(),
        command=command,
        id=folder.id,
        folder=relative(folder.path, start.folder),
        started_at=start.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        duration_s=round(time.monotonic() - start.clock_s, 3),
        verdict=verdict,
        exit_code=code,
        flows=results,
        causes=causes.shared(results),
        notes=() if signal is None else (f"interrupted ({signal}): this is what had become of the flows",),
    )
