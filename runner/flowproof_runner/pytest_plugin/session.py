"""One boundary for all flows of a pytest process: of a session, or of one xdist worker."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.registry import default
from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.process import BoundaryProcess
from flowproof_runner.flow.draft import relative, unreadable
from flowproof_runner.flow.flows import Flows
from flowproof_runner.flow.plan import Surroundings
from flowproof_runner.invocation.specs import given
from flowproof_runner.program import writing
from flowproof_runner.program.version import version
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.records import runs
from flowproof_runner.report import causes, console, json
from flowproof_runner.report.style import Style
from flowproof_runner.result import FlowResult, RunResult, overall
from flowproof_runner.targets import selection

type Recording = Literal["never", "missing", "all"]

_KEEP = 20


class Flowing:
    """Runs flows; the boundary starts with the first."""

    def __init__(self, start: Path) -> None:
        self._start = start
        self._began, self._at = time.monotonic(), datetime.now(UTC)
        self._open = ExitStack()
        self._boundary: Boundary | None = None
        self._folder: runs.RunFolder | None = None
        self._results: list[FlowResult] = []

    def run(self, path: Path, record: Recording) -> FlowResult:
        """Replay a spec, or record it. What is wrong with spec or agent is in the result.

        Raises FlowproofError if the boundary cannot be started.
        """
        boundary, folder = self._ready()
        result = self._run(path, record, boundary, folder.flow(len(self._results), path))
        self._results.append(result)
        return result

    def report(self, *flows: FlowResult) -> str:
        """What `flowproof run` would print about these."""
        return console.summary(self._summed(flows), Style())

    def close(self) -> None:
        """End the boundary and leave the report in the run folder."""
        self._open.close()
        self._boundary = None
        if self._folder is not None:
            report = json.render(self._summed(tuple(self._results)))
            writing.write(self._folder.path / "report.json", report)

    def _ready(self) -> tuple[Boundary, runs.RunFolder]:
        if self._folder is None:
            self._folder = runs.create(self._start, _shell(), self._at)
        if self._boundary is None:
            process = self._open.enter_context(BoundaryProcess(self._folder.path / "boundary"))
            self._boundary = self._open.enter_context(Boundary(process))
        return self._boundary, self._folder

    def _run(self, path: Path, record: Recording, boundary: Boundary, folder: Path) -> FlowResult:
        command: Literal["run", "record"] = "record" if record == "all" else "run"
        (spec,) = given((path,), command, record_missing=record == "missing", wanted=selection.EVERYTHING)
        if isinstance(spec.loaded, SpecError):
            return unreadable(spec.path, spec.phase, spec.loaded)
        try:
            # The environment as it is now: a test may have changed it.
            flows = Flows(boundary, Surroundings(dict(os.environ), self._start, default())).within(spec.suite)
        except FlowproofError as error:
            return unreadable(spec.path, spec.phase, error)
        return flows.run(spec.loaded, spec.phase, folder)

    def _summed(self, flows: tuple[FlowResult, ...]) -> RunResult:
        verdict, code = overall(flows)
        return RunResult(
            flowproof=version(),
            command="record" if flows and all(flow.phase == "record" for flow in flows) else "run",
            id=self._folder.id if self._folder else "",
            folder=relative(self._folder.path, self._start) if self._folder else "",
            started_at=self._at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            duration_s=round(time.monotonic() - self._began, 3),
            verdict=verdict,
            exit_code=code,
            flows=flows,
            causes=causes.shared(flows),
        )


def _shell() -> dict[str, str]:
    """The environment; each xdist worker has a run folder, and none may push out another's."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return {runs.KEEP_RUNS: str(_KEEP + workers), **os.environ}
