"""Whatever goes wrong in the supervisor, the call is refused and the run cannot be certified."""

from __future__ import annotations

import os

from tests.e2e.containment.harness import Harness
from tests.e2e.containment.network import PORTS, sink

ELSEWHERE, PORT = "127.0.0.2", PORTS + 400
POLICY = {"off_host": [f"{ELSEWHERE}/32"]}

BOOT = """
import os, signal, sys, errno
sys.path.insert(0, sys.argv[1])
from flowproof_runner.containment import abi, kernel, landlock, notify, supervisor

def handlers(context, blocked):
    def broken(call):
        {body}
    return {{**supervisor.handlers(context, blocked), abi.NUMBER["connect"]: broken}}

def table(context, blocked):
    real, broken = supervisor.handlers(context, blocked), handlers(context, blocked)
    number, launched = abi.NUMBER["connect"], []
    def connect(call):
        launched.append(call)
        return (real if len(launched) == 1 else broken)[number](call)  # the first is the launch's own test
    return {{**real, number: connect}}

supervisor.main(table)
"""
REACH = f"""
import errno, socket
try:
    socket.create_connection(("{ELSEWHERE}", {PORT}), 2)
    print("connected")
except OSError as error:
    print(errno.errorcode[error.errno])
"""


def test_an_exception_in_a_handler_refuses_the_call_and_is_a_fault(harness: Harness) -> None:
    with sink("sockets", ELSEWHERE, PORT, 1) as counting:
        done = harness.contained("python", "-c", REACH, policy=POLICY, boot=BOOT.format(body="raise ValueError('bug')"))
        assert counting.seen() == []
    assert done.out == "EPERM\n"
    [fault] = done.report["faults"]
    assert "ValueError('bug')" in fault


def test_memory_that_may_not_be_read_refuses_the_call_and_is_a_fault(harness: Harness) -> None:
    body = "raise OSError(errno.EPERM, 'process_vm_readv')"
    done = harness.contained("python", "-c", REACH, policy=POLICY, boot=BOOT.format(body=body))
    assert done.out == "EPERM\n"
    assert "could not be judged" in done.report["faults"][0]


ORPHAN = f"""
import errno, os, socket, sys, time
if os.fork() == 0:
    os.setsid()
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.001)
    number = socket.socket().connect_ex(("{ELSEWHERE}", {PORT}))
    open("orphan", "a").write(errno.errorcode.get(number, "connected"))
    time.sleep(30)
time.sleep(0.2)
{REACH}
"""


def test_a_supervisor_that_is_killed_takes_the_network_with_it_and_nothing_survives(harness: Harness) -> None:
    """The agent dies with it; a daemon that outlives both finds every trapped call gone, and is found and ended."""
    with sink("sockets", ELSEWHERE, PORT, 1) as counting:
        boot = BOOT.format(body="os.kill(os.getpid(), signal.SIGKILL)")
        done = harness.contained("python", "-c", ORPHAN, policy=POLICY, boot=boot)
        assert counting.seen() == []
    assert done.out == ""
    assert done.report["faults"] == ["the supervisor ended early"]
    orphan = harness.folder / "orphan"
    assert not orphan.exists() or orphan.read_text() in ("", "ENOSYS")
    assert not [pid for pid in filter(str.isdigit, os.listdir("/proc")) if str(orphan.parent) in cwd(pid)]


def cwd(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


CROWD = """
import errno, os, socket, threading, time
listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.listen(0)
found = []
def reach():
    found.append(errno.errorcode.get(socket.socket().connect_ex(listener.getsockname()), "ok"))
for _ in range(12):
    threading.Thread(target=reach, daemon=True).start()
deadline = time.monotonic() + 10
while "ENOBUFS" not in found and time.monotonic() < deadline:
    time.sleep(0.01)
one = socket.socket(); one.setblocking(False)
server = socket.create_server(("127.0.0.1", 0))
print("ENOBUFS" in found, errno.errorcode[one.connect_ex(server.getsockname())], flush=True)
os._exit(0)
"""


def test_too_many_blocked_connections_are_answered_not_left_to_hang(harness: Harness) -> None:
    """With every thread blocked, a new call that would block is refused; one that would not still works."""
    boot = (
        "import sys; sys.path.insert(0, sys.argv[1]); from flowproof_runner.containment import crew, supervisor;"
        " crew.Crew.__init__.__defaults__ = (4,); supervisor.main()"
    )
    done = harness.contained("python", "-c", CROWD, boot=boot)
    assert done.out == "True EINPROGRESS\n", done
