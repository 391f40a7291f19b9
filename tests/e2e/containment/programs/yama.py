"""The real supervisor on a machine whose Yama (ptrace_scope 1) lets a process look only into its own descendants.

The rule is the kernel's: up the parents of the task's process, the looking process must be met.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

from flowproof_runner.containment import abi, kernel, supervisor, target


def main(subreaper: bool = True) -> None:
    kernel.pidfd_getfd = _guarded(kernel.pidfd_getfd, _pid_of)
    kernel.read_vectors = _guarded(kernel.read_vectors, int)
    if not subreaper:
        kernel.prctl = _without_subreaper(kernel.prctl)
    supervisor.main()


def _guarded(call: Callable[..., int], pid_of: Callable[[int], int]) -> Callable[..., int]:
    def guarded(whom: int, *rest: Any) -> int:
        if not target.descends(pid_of(whom), os.getpid()):
            raise OSError(errno.EPERM, "not a descendant")
        return call(whom, *rest)

    return guarded


def _pid_of(pidfd: int) -> int:
    with open(f"/proc/self/fdinfo/{pidfd}") as file:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in file)
    return int(fields["Pid"])


def _without_subreaper(prctl: Callable[..., None]) -> Callable[..., None]:
    return lambda option, value=0: None if option == abi.PR_SET_CHILD_SUBREAPER else prctl(option, value)
