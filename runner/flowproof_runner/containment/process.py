"""A program under containment, seen from the tool: its end, its report, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any, Final

from flowproof_runner.containment.gathering import Gathering
from flowproof_runner.containment.order import Order
from flowproof_runner.containment.policy import hidden
from flowproof_runner.containment.report import (
    ENFORCED,
    ENFORCED_WITH_LANDLOCK,
    ContainmentReport,
)

TOKEN: Final = "FLOWPROOF_CONTAINED"
"""Set in the agent's environment: how what it started is found should its supervisor be killed."""
_LAUNCH_S: Final = 30.0
_END_S: Final = 15.0


class NotContained(Exception):
    """Containment cannot be had here; the words are the reason in `not contained (...)`."""


class ContainedProcess:
    """One started program. `ended` is set as soon as its first process has ended, others may still run."""

    def __init__(self, supervisor: subprocess.Popen[bytes], errors: IO[bytes], order: Order, token: str) -> None:
        self.ended = Event()
        self.returncode: int | None = None
        """As `subprocess` counts: negative for a signal; None while it runs."""
        self._supervisor = supervisor
        self._errors = errors
        self._token = token
        self._steps: dict[str, dict[str, Any]] = {}
        """The events of the launch and the end, by kind."""
        self._seen = Gathering(hidden(order.policy.entries))
        self._launched = Event()
        self._over = Event()
        self._stopped: int | None = None
        _write(supervisor, order.dump())
        Thread(target=self._read, name=f"journal-{supervisor.pid}", daemon=True).start()
        self._await_launch(order)

    @property
    def pid(self) -> int:
        """The program's first process."""
        return int(self._steps["started"]["pid"])

    @property
    def tier(self) -> str:
        """What holds it."""
        return ENFORCED_WITH_LANDLOCK if self._steps["started"]["landlock"] else ENFORCED

    def wait(self, timeout_s: float | None = None) -> int | None:
        """The exit code of the first process; None when it still runs after `timeout_s`."""
        return self.returncode if self.ended.wait(timeout_s) else None

    def stop(self, grace_s: float = 0.0) -> int:
        """End the whole tree: TERM, `grace_s` of patience, KILL. Gives how many had to be ended besides the first.

        When it returns nothing of the tree is left. Calling it again is harmless.
        """
        if self._stopped is None:
            _write(self._supervisor, f"end {grace_s}\n".encode())
            if not self._over.wait(grace_s + _END_S):
                self._supervisor.kill()
                self._over.wait()
            self._stopped = self._finish()
        return self._stopped

    def report(self) -> ContainmentReport:
        """Everything the supervisor saw; ends the tree first."""
        self.stop()
        return self._seen.report(self.tier)

    def _finish(self) -> int:
        self._supervisor.wait()
        for pipe in (self._supervisor.stdin, self._supervisor.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        if over := self._steps.get("over"):
            self._errors.close()
            return int(over["others"])
        # It did not end its tree, so the trapped calls failed from then on; what it started is still to be ended.
        self._seen.fault(f"the supervisor ended early{_last_line(self._errors)}")
        return kill_marked(f"{TOKEN}={self._token}")

    def _read(self) -> None:
        assert self._supervisor.stdout is not None
        for line in self._supervisor.stdout:
            event = json.loads(line)
            match event["event"]:
                case "started" | "refused" | "unstartable" | "over" as step:
                    self._steps[step] = event
                    if step != "over":
                        self._launched.set()
                case "exited":
                    self.returncode = event["code"]
                    self.ended.set()
                case _:
                    self._seen.add(event)
        self._over.set()
        self._launched.set()
        self.ended.set()

    def _await_launch(self, order: Order) -> None:
        if not self._launched.wait(_LAUNCH_S):
            self._supervisor.kill()
            self._over.wait()
        steps = self._steps
        if "started" in steps:
            return
        self._supervisor.kill()
        self._supervisor.wait()
        self._finish()
        if failed := steps.get("unstartable"):
            number = failed["errno"]
            program = order.program
            missing = program.argv[0] if os.path.isdir(program.cwd) else program.cwd
            raise OSError(number, os.strerror(number), missing)
        raise NotContained(steps["refused"]["why"] if "refused" in steps else self._seen.report("").faults[0])


def _write(supervisor: subprocess.Popen[bytes], data: bytes) -> None:
    assert supervisor.stdin is not None
    with contextlib.suppress(OSError):  # a dead supervisor is noticed where its journal ends
        supervisor.stdin.write(data)
        supervisor.stdin.flush()


def _last_line(file: IO[bytes]) -> str:
    with file:
        file.seek(0)
        lines = file.read()[-10_000:].decode(errors="replace").strip().splitlines()
    return f": {lines[-1]}" if lines else ""


def kill_marked(mark: str) -> int:
    """Kill every process that carries `NAME=VALUE` in its environment; gives how many there were."""
    ended: set[int] = set()
    for _ in range(100):
        found = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _kill_if(pid, mark.encode())]
        if not found:
            break
        ended.update(found)
        time.sleep(0.01)
    return len(ended)


def _kill_if(pid: int, mark: bytes) -> bool:
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        marked = mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        if marked:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        return marked
    except OSError:
        return False
    finally:
        os.close(pidfd)
