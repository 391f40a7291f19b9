"""The child's side of a launch: privileges off, Landlock, the filter, the handshake, exec.

It runs between fork and exec in a process with one thread, with the standard library only.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
from typing import Never

from flowproof_runner.containment import abi, kernel, landlock
from flowproof_runner.containment.order import PROBE, Program


def become(program: Program, status: int, ack: int, supervisor: int) -> Never:
    """Turn this freshly forked process into the program; never returns.

    `status` carries `listening FD FLAGS LANDLOCK` and then closes at exec, or `failed STEP ERRNO`. After the first
    line it waits for one byte on `ack`: by then the supervisor (whose process id is given) has the listener and serves
    it.
    """
    step = "prepare"
    try:
        _prepare(program, supervisor)
        step = "landlock"
        domain = _enter_domain()
        step = "seccomp"
        listener, flags = kernel.install_filter(program.filters[0 if domain else 1])
        os.write(status, f"listening {listener} {flags} {domain}\n".encode())
        if not os.read(ack, 1):
            os._exit(126)
        os.close(listener)
        step = "self-test"
        _expect_refusal()
        step = "exec"
        _start(program)
    except (OSError, ValueError) as error:  # ValueError: words no program can be given
        os.write(status, f"failed {step} {getattr(error, 'errno', None) or errno.EINVAL}\n".encode())
    os._exit(126)


def _prepare(program: Program, supervisor: int) -> None:
    kernel.prctl(abi.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor:  # it died before the kernel was asked to tell
        os._exit(126)
    os.setsid()  # no terminal to push characters into, no process group shared with the supervisor
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # Above 2 first, so that no source is overwritten before it is copied.
    high = [os.dup(fd) for fd in program.stdio]
    for target, fd in enumerate(high):
        os.dup2(fd, target)
        os.close(fd)


def _enter_domain() -> int:
    version = landlock.available()
    if version:
        landlock.restrict(version)
    return version


def _expect_refusal() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        number = probe.connect_ex(PROBE)
    if number != errno.EACCES:
        raise OSError(number or errno.EISCONN, "an undeclared destination was not refused")


def _start(program: Program) -> None:
    os.chdir(program.cwd)
    os.execvpe(program.argv[0], program.argv, program.env)
