"""flowproof from Python: run flows and contracts, and answer an agent's tool calls with code of your own.

    from flowproof_runner.api import run_contract

    result = run_contract("contract.yml", ["python", "adapter.py"])
    assert result.passed, result.findings

Nothing is printed. What the user can mend is raised as FlowproofError; what is wrong with the agent is in the result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Literal

from flowproof_addons import FlowproofError
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.redact import Redactor
from flowproof_runner.contract.file import load
from flowproof_runner.contract.repeat import instability
from flowproof_runner.contract.report import report, write
from flowproof_runner.contract.run import ContractRun, Setting, run
from flowproof_runner.drivers.backend import Answer, BackendContext, BackendError, Discovery, ToolBackend
from flowproof_runner.expectations.contract.evaluate import Exercise
from flowproof_runner.findings import Exit, Finding, exit_code
from flowproof_runner.result import FlowResult

__all__ = [
    "Answer",
    "BackendContext",
    "BackendError",
    "ContractResult",
    "Discovery",
    "Exercise",
    "Exit",
    "Finding",
    "FlowResult",
    "FlowproofError",
    "Redactor",
    "ToolBackend",
    "record_flow",
    "run_contract",
    "run_flow",
]


@dataclass(frozen=True, slots=True)
class ContractResult:
    """What came of a contract: one run, or several compared."""

    runs: tuple[ContractRun, ...]
    """Evidence and findings of each run, nothing hidden."""
    reports: tuple[Mapping[str, JsonValue], ...]
    """The same as JSON, secrets hidden."""
    paths: tuple[Path, ...] = ()
    """Where the reports were written, if they were."""
    instability: tuple[Finding, ...] = ()
    """What differed between the runs."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that was found, in all runs and between them."""
        return (*(found for each in self.runs for found in each.findings), *self.instability)

    @property
    def exit_code(self) -> Exit:
        """As the command line would exit."""
        return exit_code(self.findings)

    @property
    def passed(self) -> bool:
        """True when nothing was found."""
        return not self.findings


def run_contract(
    path: str | Path,
    command: Sequence[str] = (),
    *,
    backend: ToolBackend | None = None,
    repeat: int = 1,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    redactor: Redactor | None = None,
    reports: Path | None = None,
    cancelled: Event | None = None,
    finished: Callable[[int], None] = lambda runs: None,
) -> ContractResult:
    """Run a contract file. `backend` answers the calls in place of its fixtures; `command` replaces its adapter.

    `redactor` hides secrets in the reports, after judging; `reports` is a folder to write them to. Setting `cancelled`
    ends the run from another thread; `finished` is told after each run how many are done.

    Raises FlowproofError if the contract cannot be read or run as asked.
    """
    file = load(Path(path), answered=backend is not None)
    stop = cancelled or Event()
    setting = Setting(cwd=cwd or Path.cwd(), env=os.environ if env is None else env, interrupted=stop.is_set)
    runs: list[ContractRun] = []
    rows: list[dict[str, JsonValue]] = []
    paths: list[Path] = []
    while len(runs) < max(1, repeat) and not stop.is_set():
        runs.append(run(file, command, backend=backend, setting=setting))
        rows.append(report(runs[-1], redactor))
        if reports is not None:
            paths.append(write(rows[-1], reports))
        finished(len(runs))
    unstable = instability([each.evidence for each in runs]) if repeat > 1 else ()
    return ContractResult(tuple(runs), tuple(rows), tuple(paths), unstable)


def run_flow(
    path: str | Path,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    cancelled: Event | None = None,
) -> FlowResult:
    """Replay one spec from its cassette. Raises FlowproofError if it cannot even be started."""
    return _flow(Path(path), "run", cwd, env, cancelled or Event())


def record_flow(
    path: str | Path,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    cancelled: Event | None = None,
) -> FlowResult:
    """Record one spec against the real model. Raises FlowproofError if it cannot even be started."""
    return _flow(Path(path), "record", cwd, env, cancelled or Event())


def _flow(
    path: Path, command: Literal["run", "record"], cwd: Path | None, env: Mapping[str, str] | None, cancelled: Event
) -> FlowResult:
    # Imported here: a contract run needs none of it.
    from flowproof_addons.dialects.registry import default
    from flowproof_runner.boundary.client import Boundary
    from flowproof_runner.boundary.process import BoundaryProcess
    from flowproof_runner.flow.draft import unreadable
    from flowproof_runner.flow.flows import Flows
    from flowproof_runner.flow.plan import Surroundings
    from flowproof_runner.invocation.specs import given
    from flowproof_runner.reading.problems import SpecError
    from flowproof_runner.records import runs
    from flowproof_runner.targets import selection

    shell, start = dict(os.environ if env is None else env), (cwd or Path.cwd()).absolute()
    folder = runs.create(start, shell, datetime.now(UTC))
    with BoundaryProcess(folder.path / "boundary") as process, Boundary(process) as boundary:
        spec = given((path,), command, record_missing=False, wanted=selection.EVERYTHING)[0]
        if isinstance(spec.loaded, SpecError):
            return unreadable(spec.path, spec.phase, spec.loaded)
        flows = Flows(boundary, Surroundings(shell, start, default()), cancelled).within(spec.suite)
        return flows.run(spec.loaded, spec.phase, folder.flow(0, spec.path))
