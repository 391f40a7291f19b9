"""Starts mitmdump before the command line is even understood: that takes 0.15 s, and mitmdump half a second.

Nothing here decides anything. When the command line turns out wrong, what was started is ended and nobody hears of it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_runner.boundary.process import BoundaryProcess

_NAME = ".ahead-"
_OLD_S = 24 * 3600
_OTHERWISE = ("-h", "--help", "--retries", "--web")
"""With these no plain mitmdump is wanted."""


class Ahead:
    """A mitmdump that nobody has asked for yet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = BoundaryProcess(folder)
        self._taken = False

    def take(self, folder: Path) -> BoundaryProcess:
        """The process, from now on the caller's to end; its log moves to `folder`."""
        self._taken = True
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / self._process.log.name
        self._process.log.rename(log)
        self._process.log = log
        return self._process

    def close(self) -> None:
        """Remove what it needed to run, and end it if nobody took it."""
        if not self._taken:
            self._process.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
        _sweep(self._folder.parent)
        with contextlib.suppress(OSError):  # only empty folders go: there was no run
            self._folder.parent.rmdir()
            self._folder.parent.parent.rmdir()


def _sweep(runs: Path) -> None:
    """Remove what a flowproof that was killed has left."""
    for left in runs.glob(f"{_NAME}*"):
        with contextlib.suppress(OSError):
            if left.stat().st_mtime < time.time() - _OLD_S:
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def ahead(arguments: Sequence[str], runs: Path) -> Iterator[Ahead | None]:
    """A started mitmdump, its folder in `runs`, if `arguments` seem to want one and there can be one; else None."""
    started = None
    if arguments[:1] in (["run"], ["record"]) and not any(word in _OTHERWISE for word in arguments):
        with contextlib.suppress(OSError, FlowproofError):  # whoever needs it tries again, and says what is wrong
            started = Ahead(runs / f"{_NAME}{os.getpid()}")
    try:
        yield started
    finally:
        if started is not None:
            started.close()
