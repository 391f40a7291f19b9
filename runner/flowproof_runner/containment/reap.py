"""Ending a whole process tree, whatever its members do about it.

Whoever calls this is the tree's subreaper, so every orphan, daemon and double fork is still below it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

_PAUSE_S = 0.002


def end(root: int, grace_s: float) -> dict[int, int]:
    """Ask everything below `root` (this process) to end, wait `grace_s`, then kill; gives the exit codes by pid."""
    ended = collect()
    if childless():
        return ended
    below = descendants(root)
    for pid in below if grace_s else ():
        _signal(pid, root, signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while below and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)
        ended |= collect()
        below = descendants(root)
    return ended | kill_all(root)


def kill_all(root: int) -> dict[int, int]:
    """Kill everything below `root` (this process); returns when nothing is left.

    All are stopped before any is killed, so that one that forks its successor as it dies gets no further than a round.
    """
    ended: dict[int, int] = {}
    while not childless():
        below = descendants(root)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                _signal(pid, root, number)
        time.sleep(_PAUSE_S)
        ended |= collect()
    return ended


def collect() -> dict[int, int]:
    """Take the exit status of every child that has ended, as `subprocess` counts them."""
    found: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        found[pid] = os.waitstatus_to_exitcode(status)


def childless() -> bool:
    """True when nothing is left below this process: whoever lost its parent there is its child."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def descendants(root: int) -> list[int]:
    """Every process below `root`, in no order."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (parent := _parent(int(name))) is not None:
            children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    ahead = [root]
    while ahead:
        ahead += children.get(ahead.pop(), [])
        if ahead:
            found.append(ahead[-1])
    return found


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return None


def _signal(pid: int, root: int, number: int) -> None:
    with contextlib.suppress(OSError):
        pidfd = os.pidfd_open(pid)
        try:
            # The number may have been given to a stranger since the scan; from here on the descriptor holds it.
            if _below(pid, root):
                signal.pidfd_send_signal(pidfd, number)
        finally:
            os.close(pidfd)


def _below(pid: int, root: int) -> bool:
    for _ in range(256):
        parent = _parent(pid)
        if parent == root:
            return True
        if not parent:
            return False
        pid = parent
    return False
