"""However a process leaves its parents, it is under the filter while it lives and gone when the run is over."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable

from tests.e2e.containment.harness import Harness

DAEMON = """
import os, signal, socket, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        found = socket.socket().connect_ex(("192.0.2.1", 7))
        open("daemon", "w").write(f"{os.getpid()} {found}")
        time.sleep(60)
    os._exit(0)
os.wait()
while not (os.path.exists("daemon") and open("daemon").read()):
    time.sleep(0.01)
"""
FORKER = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        while True:
            if os.fork():
                os._exit(0)
            os.setsid()
            time.sleep(0.0005)
time.sleep(0.3)
"""


POLITE = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print("bye", flush=True)))
time.sleep(60)
"""


def running_in(harness: Harness) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/cwd").startswith(str(harness.folder)):
                found.append(int(name))
        except OSError:
            pass
    return found


def test_a_daemon_is_served_then_ended(harness: Harness) -> None:
    done = harness.contained("python", "-c", DAEMON)
    pid, found = (harness.folder / "daemon").read_text().split()
    assert found == "13"
    assert done.destinations() == {"192.0.2.1:7"}
    assert done.survivors == 1
    assert running_in(harness) == [], pid


def test_a_program_that_forks_its_successor_as_it_dies_is_ended(harness: Harness) -> None:
    done = harness.contained("python", "-c", FORKER)
    assert (done.code, done.survivors >= 8) == (0, True)
    assert running_in(harness) == []


def test_a_tree_that_is_asked_to_end_may_do_so_in_its_own_way(harness: Harness) -> None:
    began = time.monotonic()
    done = harness.contained("python", "-c", POLITE, timeout_s=1, grace_s=10)
    assert done.out == "bye\n"
    assert time.monotonic() - began < 9


def test_when_the_tool_is_killed_the_tree_is_ended(harness: Harness) -> None:
    program = "open('started', 'w').close(); import time; time.sleep(60)"
    order = harness.order("python", "-c", program)
    with subprocess.Popen(harness.command(), stdin=subprocess.PIPE, start_new_session=True, text=True) as tool:
        assert tool.stdin
        tool.stdin.write(order)
        tool.stdin.close()
        wait_until(lambda: (harness.folder / "started").exists())
        os.killpg(tool.pid, signal.SIGKILL)
    wait_until(lambda: running_in(harness) == [])


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


MANY = """
import socket
server = socket.create_server(("127.0.0.1", 0))
for _ in range(10_000):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.connect(server.getsockname())
    one.close()
import os
supervisor = os.getppid()
print(dict(line.split(":", 1) for line in open(f"/proc/{supervisor}/status"))["Threads"].strip())
"""


def test_ten_thousand_calls_leave_no_thread_and_no_descriptor_behind(mine: Harness) -> None:
    """Descriptors cannot be counted from outside; were one lost per call, the limit of 1,024 would be met."""
    done = mine.contained("python", "-c", MANY, timeout_s=60)
    assert done.report["faults"] == []
    assert int(done.out) < 64
