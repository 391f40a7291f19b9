"""Ending everything an agent started, also what detached itself."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from threading import Event
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil  # costs 30 ms to import, which a run that starts no agent need not pay

_PR_SET_CHILD_SUBREAPER = 36
_KILL_PATIENCE_S = 5.0
_ROUND_S = 0.05


@dataclass(frozen=True, slots=True)
class Stopped:
    """What was found when a tree was ended."""

    others: int = 0
    """Processes besides the agent's own."""
    left: tuple[int, ...] = ()
    """Those that could not be ended (another user's)."""


@cache
def adopt_orphans() -> bool:
    """Make this process the parent of every orphan below it, so that no daemon leaves the tree.

    True where the kernel does so (Linux).
    """
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def end(pid: int, mark: str, grace_s: float, ended: Event) -> Stopped:
    """End process `pid` (a child of ours, in a session of its own) and all it started: TERM, patience, KILL.

    `ended` is set by whoever waits for `pid`; it is never reaped here. `mark` is `NAME=VALUE` in its environment.
    """

    def members() -> list[psutil.Process]:
        return _members(None if ended.is_set() else pid, pid, mark)

    asked = _signal(members(), signal.SIGTERM)
    if asked:
        ended.wait(grace_s)
    return _kill(members, asked - {pid}, pid)


def end_all() -> Stopped:
    """Kill every process below this one: the last thing before flowproof exits."""
    import psutil

    me = psutil.Process()
    return _kill(lambda: _living(me.children(recursive=True)), set(), -1)


def _kill(members: Callable[[], list[psutil.Process]], others: set[int], pid: int) -> Stopped:
    import psutil

    deadline = time.monotonic() + _KILL_PATIENCE_S
    # Whoever forks while being killed is found in the next round.
    while (alive := members()) and time.monotonic() < deadline:
        others |= _signal(alive, signal.SIGKILL) - {pid}
        psutil.wait_procs([process for process in alive if process.pid != pid], timeout=_ROUND_S)
    return Stopped(len(others), tuple(process.pid for process in alive))


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> set[int]:
    import psutil

    reached = set[int]()
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(number)  # psutil checks that the pid was not given to another process
        reached.add(process.pid)
    return reached


def _members(agent: int | None, session: int, mark: str) -> list[psutil.Process]:
    """The living processes of the agent: its descendants, its session, and orphans of ours that carry its mark."""
    import psutil

    roots = [] if agent is None else _process(agent)
    # Without a subreaper orphans are init's: then the session is looked for among all processes.
    candidates = psutil.Process().children() if adopt_orphans() else psutil.process_iter()
    roots += [process for process in candidates if process.pid != agent and _belongs(process, session, mark)]
    found = {process.pid: process for process in roots}
    for root in roots:
        with contextlib.suppress(psutil.Error):
            found.update({process.pid: process for process in root.children(recursive=True)})
    return _living(found.values())


def _process(pid: int) -> list[psutil.Process]:
    import psutil

    with contextlib.suppress(psutil.Error):
        return [psutil.Process(pid)]
    return []


def _belongs(process: psutil.Process, session: int, mark: str) -> bool:
    import psutil

    name, _, value = mark.partition("=")
    with contextlib.suppress(OSError):
        if os.getsid(process.pid) == session:
            return True
    with contextlib.suppress(psutil.Error, OSError):
        return process.environ().get(name) == value
    return False


def _living(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    import psutil

    living = list[psutil.Process]()
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                living.append(process)
    return living
