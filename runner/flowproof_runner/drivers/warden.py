"""Runs beside flowproof, as a program of its own: when flowproof is killed, it ends the agents that are left.

Reads lines from stdin, `+NAME=VALUE` and `-NAME=VALUE`: marks in the environments of the processes it answers for.
The end of stdin is flowproof's end. Linux only, and nothing but the standard library: it starts in ten milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

_ROUNDS = 200
_ROUND_S = 0.02


def main() -> None:
    """Wait for flowproof's end, then end what carries a mark, until nothing does."""
    marks = set[bytes]()
    for line in sys.stdin.buffer:
        change = marks.add if line.startswith(b"+") else marks.discard
        change(line[1:].rstrip(b"\n"))
    for _ in range(_ROUNDS):
        left = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if marked(pid, marks)]
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_ROUND_S)  # whoever forked meanwhile is found in the next round


def marked(pid: int, marks: set[bytes]) -> bool:
    """Whether a living process has one of the marks in its environment."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return not marks.isdisjoint(file.read().split(b"\0"))
    except OSError:
        return False


if __name__ == "__main__":
    main()
