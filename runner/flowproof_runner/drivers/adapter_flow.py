"""The agent as an adapter inside a flow: the spec's `tools:` and the boundary's MCP lanes answer its calls."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_runner.drivers import adapter_session, environment
from flowproof_runner.drivers.adapter import Adapter, AdapterRun, Refusal
from flowproof_runner.drivers.backend import ToolBackend
from flowproof_runner.drivers.base import DriverResult, Ending, Task
from flowproof_runner.drivers.fixtures import Case, Fixtures
from flowproof_runner.drivers.handles import handles, warning
from flowproof_runner.drivers.mcp_backend import HttpServer, McpBackend, Mixed, Server, StdioServer

_DIVERGED_GRACE_S = 0.3


@dataclass(frozen=True, slots=True)
class AdapterFlow:
    """Runs an adapter once, as a driver of flows."""

    words: tuple[str, ...]
    cwd: Path
    shell: Mapping[str, str] = field(repr=False)
    name: str
    fixtures: Mapping[str, tuple[Case, ...]]
    """Tools answered by the spec; all others go to the MCP lanes."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    key_variables: tuple[str, ...] = ()
    stdio: frozenset[str] = frozenset()
    """MCP servers reached through their stdio stand-in; the others by URL."""
    gate: Refusal | None = None
    accepted: frozenset[int] | None = frozenset({0})

    def run(self, task: Task) -> DriverResult:
        """See Driver."""
        filled = handles(task.prompt, task.addresses, task.folder, task.places)
        words = tuple(filled.fill(word) for word in self.words)
        overrides = {name: filled.fill(value) for name, value in self.env.items()}
        adapter = Adapter(
            words=words,
            cwd=self.cwd,
            env=environment.build(
                self.shell, task.addresses, task.prompt, key_variables=self.key_variables, overrides=overrides
            ),
            scenario=self.name,
            message=task.prompt,
            backend=self._backend(task),
            gate=self.gate,
            timeout_s=task.timeout_s,
            accepted=self.accepted,
            folder=task.folder,
            interrupted=_interrupted(task),
            arrived=task.arrived,
        )
        ran = adapter_session.run(adapter)
        unknown = filled.unknown((*self.words, *self.env.values()))
        return _result(ran, task, (warning(name, filled) for name in unknown))

    def _backend(self, task: Task) -> ToolBackend:
        fixtures, addresses = Fixtures(self.fixtures), task.addresses
        servers: list[Server] = [
            StdioServer(name, tuple(shlex.split(addresses.mcp_servers[name])), self.cwd, self.shell)
            for name in sorted(self.stdio & addresses.mcp_servers.keys())
        ]
        servers += [HttpServer(name, url) for name, url in addresses.mcp_urls.items() if name not in self.stdio]
        return Mixed(fixtures, McpBackend(servers)) if servers else fixtures


def _interrupted(task: Task) -> Callable[[], bool]:
    """True when the invocation ends, and shortly after a divergence: an agent that shows it tells more."""
    since: list[float] = []

    def asked() -> bool:
        if task.diverged.is_set() and not since:
            since.append(time.monotonic())
        return task.cancelled.is_set() or bool(since and time.monotonic() > since[0] + _DIVERGED_GRACE_S)

    return asked


def _result(ran: AdapterRun, task: Task, notes: Iterable[str]) -> DriverResult:
    code = ran.exit_code
    ending: Ending = "exited"
    if ran.timed_out:
        stopped: Ending = "interrupted" if task.cancelled.is_set() else "stopped after divergence"
        ending = stopped if task.cancelled.is_set() or task.diverged.is_set() else "timed out"
    return DriverResult(
        ending=ending,
        duration_s=ran.duration_ms / 1000,
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        stderr=task.folder / "stderr.txt" if (task.folder / "stderr.txt").exists() else None,
        survivors=ran.survivors,
        notes=tuple(notes),
        events=ran.evidence.events,
        problem=None if ran.timed_out else ran.problem,
    )
