"""Processes that are ended together with what they started: `node` is a Python program that starts Node."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess


def end(leader: subprocess.Popen[bytes]) -> None:
    """Kill a process that was started with `start_new_session=True`, and all of its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGKILL)
    leader.wait()
