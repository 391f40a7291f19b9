"""Tries to take hold of processes outside the tree: a bystander of the same user, and the supervisor.

Usage: reach_out.py BYSTANDER. Prints `NAME ok` or `NAME ERRNO`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
from collections.abc import Callable

bystander, parent = int(sys.argv[1]), os.getppid()
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = libc.ptrace.restype = ctypes.c_long
PIDFD_GETFD, ATTACH, DETACH = 438, 16, 17
CLONE_NEWNET = 0x40000000


def checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def trace(pid: int) -> None:
    checked(libc.ptrace(ATTACH, pid, 0, 0))
    os.waitpid(pid, 0x40000000)
    libc.ptrace(DETACH, pid, 0, 0)


def open_memory(pid: int) -> None:
    open(f"/proc/{pid}/mem", "r+b").close()


def read_memory(pid: int) -> None:
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    there = (ctypes.c_size_t * 2)(first_address(pid), 8)
    checked(libc.process_vm_readv(pid, vector, 1, there, 1, 0))


def first_address(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/maps") as maps:
            return int(maps.readline().split("-")[0] or "1000", 16)
    except PermissionError:
        return 4096


def take_descriptors(pid: int) -> None:
    """All that answer a call: one of them would be the listener."""
    pidfd = os.pidfd_open(pid)
    taken = [fd for fd in range(64) if libc.syscall(PIDFD_GETFD, pidfd, fd, 0) >= 0]
    if not taken:
        checked(-1)


def namespace(pid: int) -> None:
    fd = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    os.close(fd)


def hurt(pid: int) -> None:
    os.kill(pid, signal.SIGURG)  # does nothing by itself; SIGKILL is permitted exactly where this is


def attempt(name: str, act: Callable[[int], None], pid: int) -> None:
    try:
        act(pid)
        print(name, "ok", flush=True)
    except OSError as error:
        print(name, errno.errorcode[error.errno or 0], flush=True)


for who, pid in (("bystander", bystander), ("supervisor", parent)):
    for act in (trace, open_memory, read_memory, take_descriptors, namespace, hurt):
        attempt(f"{who}:{act.__name__}", act, pid)
