"""The process between the tool and the agent: it launches the tree, answers its calls, and ends it.

A process of its own because answering takes 30 microseconds in an idle interpreter and 15 milliseconds in a busy one;
and because it must be the tree's subreaper and must hold no privilege. Standard library only, and of that not
dataclasses: they bring half of it with them, and whoever waits for an agent waits for this process to start.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Final

from flowproof_runner.containment import abi, kernel, launcher, observing, privileges, reap
from flowproof_runner.containment.binding import Binding, Listening
from flowproof_runner.containment.blocked import Blocked
from flowproof_runner.containment.connecting import Connecting
from flowproof_runner.containment.context import Context
from flowproof_runner.containment.crew import Crew
from flowproof_runner.containment.journal import Journal
from flowproof_runner.containment.nameserver import NameServer
from flowproof_runner.containment.notify import Handler, Listener
from flowproof_runner.containment.order import Order
from flowproof_runner.containment.receiving import Receiving
from flowproof_runner.containment.sending import Sending

CONTROL: Final = 0
"""Where the order comes from, then one line to end the tree; its end of file means that the tool is gone."""
JOURNAL: Final = 1
YAMA: Final = "/proc/sys/kernel/yama/ptrace_scope"

type Handlers = Callable[[Context, Blocked], Mapping[int, Handler]]


class LaunchFailed(Exception):
    """A step of the launch did not work: the words are the tier's reason."""


def handlers(context: Context, blocked: Blocked) -> Mapping[int, Handler]:
    """Who answers which system call."""
    sending, receiving = Sending(context), Receiving(context)
    number = abi.NUMBER
    return {
        number["connect"]: Connecting(context, blocked),
        number["sendto"]: sending.sendto,
        number["sendmsg"]: sending.sendmsg,
        number["sendmmsg"]: sending.sendmmsg,
        number["recvfrom"]: receiving.recvfrom,
        number["recvmsg"]: receiving.recvmsg,
        number["bind"]: Binding(context),
        number["listen"]: Listening(context),
        **observing.handlers(context),
    }


def main(table: Handlers = handlers) -> None:
    """Serve one tree: read the order, launch, answer until the tree or the tool is gone."""
    journal = Journal(os.dup(JOURNAL))
    order, rest = _order()
    try:
        _harden()
        served = _launch(order, journal, table)
    except LaunchFailed as failure:
        journal.tell("refused", why=str(failure))
        reap.kill_all(os.getpid())
        os._exit(0)
    others = _until_over(journal, served, rest) if served else 0
    journal.tell("over", others=others)
    os._exit(0)  # threads wait for calls that will not come


def _order() -> tuple[Order, bytes]:
    received = b""
    while b"\n" not in received:
        part = os.read(CONTROL, 1 << 20)
        if not part:
            sys.exit(0)
        received += part
    line, _, rest = received.partition(b"\n")
    return Order.load(line), rest


def _harden() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the tool decides when the tree ends, through the control pipe
    privileges.drop()
    kernel.prctl(abi.PR_SET_CHILD_SUBREAPER, 1)


def _launch(order: Order, journal: Journal, table: Handlers) -> int:
    """Start the program under the filter; gives its process id, 0 when it could not be executed."""
    status, status_in = os.pipe()
    ack_out, ack = os.pipe()
    context = Context(order.policy, journal, order.folder)
    server = NameServer(context)
    server.open()
    pid = os.fork()
    if pid == 0:
        launcher.become(order.program, status_in, ack_out, context.root)
    os.close(status_in)
    os.close(ack_out)
    for fd in set(order.program.stdio):
        os.close(fd)
    words = _line(status)
    if words[0] != "listening":
        raise LaunchFailed(_failure(words))
    kernel.prctl(abi.PR_SET_DUMPABLE, 0)  # from here on nobody of the same user can take our descriptors or memory
    listener = _take(pid, int(words[1]), killable=bool(int(words[2]) & abi.FLAG_WAIT_KILLABLE_RECV))
    _serve(context, listener, table)
    server.start()
    os.write(ack, b"+")
    os.close(ack)
    ended = _line(status)
    os.close(status)
    if ended[0] != "":
        if ended[1] != "exec":
            raise LaunchFailed(_failure(ended))
        journal.tell("unstartable", errno=int(ended[2]))
        return 0
    journal.tell("started", pid=pid, landlock=int(words[3]), killable=listener.killable)
    return pid


def _take(pid: int, fd: int, *, killable: bool) -> Listener:
    """Fetch the listener out of the child: no message passes a socket, so nothing of the child's is exempt."""
    try:
        pidfd = os.pidfd_open(pid)
        listener = kernel.pidfd_getfd(pidfd, fd)
    except OSError as error:
        raise LaunchFailed(f"pidfd_getfd: {error.strerror}; {_advice()}") from error
    os.close(pidfd)
    kernel.wake_in_place(listener)
    return Listener(listener, killable=killable)


def _advice() -> str:
    """What to do where one process may not look into its own child."""
    with contextlib.suppress(OSError), open(YAMA) as file:
        if (scope := file.read().strip()) not in ("0", "1"):
            return f"kernel.yama.ptrace_scope is {scope}, and must be 0 or 1"
    return "in a container: --cap-add SYS_PTRACE, or a profile that allows pidfd_getfd"


def _serve(context: Context, listener: Listener, table: Handlers) -> None:
    blocked = Blocked(listener)
    blocked.start()
    crew = Crew(listener, table(context, blocked), context.journal.fault)
    context.crowded = lambda: crew.crowded
    crew.hire()
    crew.hire(standby=True)


def _line(fd: int) -> list[str]:
    """The words of what the child wrote; `[""]` when it closed without writing."""
    return os.read(fd, 200).decode().strip().split(" ")


def _failure(words: list[str]) -> str:
    if len(words) < 3:
        return "the launcher ended without a word"
    return f"{words[1]}: {os.strerror(int(words[2]))}"


def _until_over(journal: Journal, agent: int, told: bytes) -> int:
    """Collect children until the tool says so, or is gone; then end the tree. Gives how many others had to be ended."""
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll = select.poll()
    poll.register(CONTROL, select.POLLIN)
    poll.register(wake, select.POLLIN)
    running = True
    while True:
        code = reap.collect().get(agent)
        if running and code is not None:
            running = False
            journal.tell("exited", code=code)
        if told:
            break
        for fd, _ in poll.poll():
            if fd == CONTROL:
                told = os.read(CONTROL, 100) or b"gone"
            else:
                wake.recv(4096)
    ended = reap.end(os.getpid(), _grace_s(told))
    if running:
        journal.tell("exited", code=ended.get(agent, -signal.SIGKILL))
    return len(ended) - (agent in ended)


def _grace_s(told: bytes) -> float:
    word, _, grace = told.decode().strip().partition(" ")
    return float(grace) if word == "end" and grace else 0.0
