"""Sees to it that no agent outlives a flowproof that was killed: see `warden`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

_starting = Lock()


@contextmanager
def guarded(mark: str) -> Iterator[None]:
    """Within, processes with `NAME=VALUE` in their environment are ended if this process is killed (Linux only)."""
    if sys.platform != "linux":
        yield
        return
    with _starting:  # flows begin on several threads, and one warden is enough
        warden = _warden()
    _tell(warden, f"+{mark}\n")
    try:
        yield
    finally:
        _tell(warden, f"-{mark}\n")


def _tell(warden: int, line: str) -> None:
    """A line this short is written whole, whichever threads write at a time."""
    with contextlib.suppress(BrokenPipeError):
        os.write(warden, line.encode())


@cache
def _warden() -> int:
    """Start the one warden of this process; where it listens. `tree.end_all` ends it with everything else."""
    theirs, ours = os.pipe()  # ours is closed in every other program we start, so its end is this process's end
    script = str(Path(__file__).with_name("warden.py"))
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", script],
        {},
        file_actions=[
            (os.POSIX_SPAWN_DUP2, theirs, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
        setsid=True,  # Ctrl-C in the terminal is not for it
    )
    os.close(theirs)
    return ours
