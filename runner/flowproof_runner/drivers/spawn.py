"""Starting one agent process: the seam where containment takes the place of a plain start."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Protocol

from flowproof_runner.drivers import own, tree
from flowproof_runner.drivers.base import DriverError
from flowproof_runner.drivers.tree import Stopped


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start."""

    words: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str] = field(repr=False)
    stdout: Path
    stderr: Path
    mark: str
    """`NAME=VALUE`, also in `environment`: tells this agent's descendants, however far they strayed."""
    stdin: int | None = None
    """A descriptor the agent reads; None: there is nothing to read."""


class Running(Protocol):
    """One started agent."""

    ended: Event
    """Set as soon as the agent's own process has ended."""

    @property
    def returncode(self) -> int | None:
        """As `subprocess` counts: negative for a signal; None while it runs."""
        ...

    def stop(self, grace_s: float) -> Stopped:
        """End the agent and all it started: TERM, `grace_s` of patience, KILL.

        Always called, also after the agent ended by itself. When it returns, nothing of the agent is left
        but what `Stopped.left` names.
        """
        ...


class Spawner(Protocol):
    """Starts agents. The plain one is `Plain`; containment provides another."""

    def spawn(self, launch: Launch) -> Running:
        """Start it. Raises DriverError if that is impossible."""
        ...


class Plain:
    """Starts an agent as an ordinary child in a session of its own."""

    def spawn(self, launch: Launch) -> Running:
        """Start it, with its output in files, so that no reader is ever waited for."""
        tree.adopt_orphans()
        with output_file(launch.stdout) as stdout, output_file(launch.stderr) as stderr:
            try:
                process = subprocess.Popen(
                    launch.words,
                    cwd=launch.cwd,
                    env=dict(launch.environment),
                    stdin=subprocess.DEVNULL if launch.stdin is None else launch.stdin,
                    stdout=stdout,
                    stderr=stderr,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise cannot_start(launch, error) from error
        return _Child(process, launch.mark)


class _Child:
    def __init__(self, process: subprocess.Popen[bytes], mark: str) -> None:
        self._process = process
        self._mark = mark
        self.ended = Event()
        Thread(target=self._wait, name=f"wait-{process.pid}", daemon=True).start()

    @property
    def returncode(self) -> int | None:
        return self._process.returncode if self.ended.is_set() else None

    def stop(self, grace_s: float) -> Stopped:
        return tree.end(self._process.pid, self._mark, grace_s, self.ended)

    def _wait(self) -> None:
        self._process.wait()
        self.ended.set()


def cannot_start(launch: Launch, error: OSError | ValueError) -> DriverError:
    """The error a user sees when the agent's command cannot be started."""
    program = launch.words[0]
    if not launch.cwd.is_dir():
        return DriverError(f"agent.cwd {str(launch.cwd)!r} is not a folder: create it or correct `agent.cwd`")
    if isinstance(error, FileNotFoundError):
        return DriverError(
            f"agent.command: {program!r} was not found, started in {str(launch.cwd)!r}: install it, or correct the"
            f" command or PATH (words are taken as they are, no shell is involved){own.program(program)}"
        )
    if isinstance(error, PermissionError):
        return DriverError(f"agent.command: {program!r} may not be executed: make it executable (chmod +x)")
    if isinstance(error, OSError):
        return DriverError(f"agent.command: {program!r} cannot be started: {error.strerror or error}")
    return DriverError(f"agent.command: {program!r} cannot be started: {error}")


@contextmanager
def output_file(path: Path) -> Iterator[int]:
    """A descriptor for one stream of an agent, readable by its owner only."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise DriverError(f"{path} cannot be written: {error.strerror}; free the space or the folder") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
