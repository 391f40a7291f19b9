"""An agent does not outlive a flowproof that was killed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

RUNNER = """
import os, subprocess, sys
from flowproof_runner.drivers.guard import guarded
agent = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]
with guarded("X_MARK=1"):
    with guarded("X_MARK=2"):
        pass
    apart = {"start_new_session": True, "stdout": subprocess.DEVNULL}
    marked = subprocess.Popen(agent, env={"X_MARK": "1"}, **apart)
    forgotten = subprocess.Popen(agent, env={"X_MARK": "2"}, **apart)
    print(marked.pid, forgotten.pid, flush=True)
    os.kill(os.getpid(), 9)
"""


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.mark.skipif(sys.platform != "linux", reason="the warden reads /proc")
def test_what_is_guarded_ends_with_a_killed_runner_and_nothing_else_does(tmp_path: Path) -> None:
    runner = subprocess.run([sys.executable, "-c", RUNNER], stdout=subprocess.PIPE, check=False, text=True)
    assert runner.returncode == -9
    marked, forgotten = map(int, runner.stdout.split())
    try:
        deadline = time.monotonic() + 30
        while alive(marked):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert alive(forgotten)
    finally:
        psutil.Process(forgotten).kill()
