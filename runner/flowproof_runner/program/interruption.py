"""Ctrl-C, TERM and HUP as one exception that unwinds the main thread once; a second one cannot cut the cleaning."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked flowproof to end. Derives from BaseException, so that nobody takes it for an error."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number
        """What a shell expects of a process ended by this signal: 130 for Ctrl-C, 143 for TERM."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Within, the first such signal raises Interrupted in the main thread and the later ones are ignored."""
    before = {number: signal.signal(number, _raise) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int, frame: FrameType | None) -> None:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted(number)
