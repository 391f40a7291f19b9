"""The agent as an adapter: a process that asks for tools on stdout and is answered on stdin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers.backend import BackendContext, ToolBackend
from flowproof_runner.evidence.model import AnyEvent, Evidence

type Refusal = Callable[[Sequence[AnyEvent], str, str, str, JsonValue], str | None]
"""(events so far, call id, tool, lane, arguments) -> why the call must not be dispatched, None if it may."""


@dataclass(frozen=True, slots=True)
class AdapterRun:
    """One run of an adapter."""

    evidence: Evidence
    """Complete only if the run was."""
    problem: str | None = None
    """What broke the run: a protocol violation, a timeout, a backend failure."""
    timed_out: bool = False
    denied: bool = False
    """Ended by the gate."""
    exit_code: int | None = None
    duration_ms: float = 0.0
    stderr: str = ""
    survivors: int = 0


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter and the backend that answers it; `adapter_session.run` runs it."""

    words: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    scenario: str
    message: str
    backend: ToolBackend
    data: JsonValue = None
    has_data: bool = False
    gate: Refusal | None = None
    context: BackendContext | None = None
    timeout_s: float = 30.0
    accepted: frozenset[int] | None = frozenset({0})
    """Exit codes that are right; None: any."""
    folder: Path | None = None
    interrupted: Callable[[], bool] = field(default=lambda: False)
    arrived: Callable[[], int] | None = None
    """How many model requests of the same run have arrived by now; None where there is no model to observe."""
