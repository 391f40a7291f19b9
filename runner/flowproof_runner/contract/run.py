"""One run of a contract: the adapter over its backend, the evidence judged."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import TYPE_CHECKING

from flowproof_addons import FlowproofError
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.answering import answering
from flowproof_runner.contract.file import ContractFile
from flowproof_runner.drivers import adapter_session
from flowproof_runner.drivers.adapter import Adapter, AdapterRun
from flowproof_runner.drivers.backend import BackendContext, ToolBackend, frozen
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.findings import Exit, Finding, exit_code

if TYPE_CHECKING:
    from flowproof_runner.drivers.adapter import Refusal
    from flowproof_runner.expectations.contract.evaluate import Exercise

_AFTERWARDS = ("flowproof_runner.expectations.contract.evaluate", "flowproof_runner.contract.report")
"""Imported while the adapter starts: they are needed when it is done."""


class ContractError(FlowproofError):
    """A contract cannot be run as asked."""


@dataclass(frozen=True, slots=True)
class ContractRun:
    """One run and its verdict."""

    file: ContractFile
    command: tuple[str, ...]
    started_at: datetime
    evidence: Evidence
    findings: tuple[Finding, ...]
    exercised: tuple[Exercise, ...]
    duration_ms: float
    stderr: str = ""
    agent_exit: int | None = None
    broken: bool = False
    """The run itself failed: the findings are those its beginning can prove."""

    @property
    def exit(self) -> Exit:
        """The exit code."""
        return exit_code(self.findings)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run takes from where it happens."""

    cwd: Path = field(default_factory=Path.cwd)
    env: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    interrupted: Callable[[], bool] = field(default=lambda: False)
    folder: Path | None = None
    """Where the adapter's stderr is kept; None: nowhere."""


def run(
    file: ContractFile,
    command: Sequence[str] = (),
    *,
    backend: ToolBackend | None = None,
    setting: Setting | None = None,
) -> ContractRun:
    """Run the contract once. `command` and `backend` take the place of the file's own.

    Raises ContractError if there is no command, or a backend and `mcp:` exclude each other.
    """
    words = tuple(command) or file.command
    if not words:
        raise ContractError(f"{file.path}: no command to run: give one after --, or adapter.command in the file")
    if backend is not None and file.servers:
        raise ContractError(f"{file.path}: has mcp: and was given a backend; only one of them can answer the calls")
    setting = setting or Setting()
    adapter = Adapter(
        words=words,
        cwd=setting.cwd,
        env=setting.env,
        scenario=file.id,
        message=file.message,
        data=file.data,
        has_data=file.has_data,
        backend=backend or answering(file, setting.cwd, setting.env),
        gate=_gate(file),
        context=_context(file),
        timeout_s=file.timeout_s,
        folder=setting.folder,
        interrupted=setting.interrupted,
    )
    started = datetime.now(UTC)
    Thread(target=_import_ahead, name="import-ahead", daemon=True).start()
    return judged(file, words, started, adapter_session.run(adapter))


def judged(file: ContractFile, command: tuple[str, ...], started: datetime, ran: AdapterRun) -> ContractRun:
    """The verdict on a run that has been made."""
    from flowproof_runner.expectations.contract.evaluate import judge

    judgement = judge(file.contract, ran.evidence)
    findings = judgement.findings
    if ran.problem is not None:
        broken = Finding(id="runtime.execution", message=ran.problem, kind="problem", detail=_tail(ran.stderr))
        findings = (*(replace(f, caused_by=f.caused_by) for f in findings), broken)
    return ContractRun(
        file=file,
        command=command,
        started_at=started,
        evidence=ran.evidence,
        findings=findings,
        exercised=judgement.exercised,
        duration_ms=ran.duration_ms,
        stderr=ran.stderr,
        agent_exit=ran.exit_code,
        broken=ran.problem is not None,
    )


def _gate(file: ContractFile) -> Refusal | None:
    if not file.enforced:
        return None
    from flowproof_runner.expectations.contract.gate import Gate

    return Gate(file.contract, file.enforced).refusal


def _import_ahead() -> None:
    for name in _AFTERWARDS:
        with contextlib.suppress(Exception):  # whoever needs it meets the same error where it can be told
            import_module(name)


def _context(file: ContractFile) -> BackendContext:
    """Snapshots, so that no backend can rewrite what the run is judged by."""
    cases: Mapping[str, JsonValue] = MappingProxyType(
        {tool: frozen([case.result for case in cases]) for tool, cases in file.fixtures.items()}
    )
    return BackendContext(file.id, cases, file.timeout_s)


def _tail(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.strip()]
    return "\n".join(lines[-10:])
