"""The task that made a trapped call: its memory, its descriptors, its place in the tree.

Whatever is read here counts only once `Call.alive` has said so *afterwards*: until then the number may be another's.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import threading
from typing import NamedTuple

from flowproof_runner.containment import abi, kernel

_STRING_LIMIT = 4096
_TASKS = 4
_SMALL = 256
"""Bytes: any address, any message header, a piece of a path."""
_IOVEC = struct.Struct("@PN")
_IDENTITY = struct.Struct("=Q")


class _Few(threading.local):
    """What a thread of ours needs for every call it handles, made once."""

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(_SMALL)
        self._vectors = ctypes.create_string_buffer(2 * _IOVEC.size)
        self._to, self._from = ctypes.addressof(self._buffer), ctypes.addressof(self._vectors) + _IOVEC.size
        self._pidfds: dict[int, int] = {}

    def read(self, tid: int, address: int, size: int) -> bytes:
        _IOVEC.pack_into(self._vectors, 0, self._to, size)
        _IOVEC.pack_into(self._vectors, _IOVEC.size, address, size)
        if kernel.read_vectors(tid, self._vectors, self._from, 1) != size:
            raise OSError(errno.EFAULT, "unreadable")
        return self._buffer.raw[:size]

    def pidfd(self, tid: int) -> int:
        """A descriptor of the task; of the last few tasks it is kept."""
        if (known := self._pidfds.get(tid)) is not None:
            return known
        if len(self._pidfds) >= _TASKS:
            self.forget(next(iter(self._pidfds)))
        self._pidfds[tid] = _pidfd(tid)
        return self._pidfds[tid]

    def forget(self, tid: int) -> None:
        os.close(self._pidfds.pop(tid))


_few = _Few()


class Call(NamedTuple):
    """One trapped call, waiting for its answer."""

    listener: int
    id: int
    tid: int
    number: int
    args: tuple[int, ...]
    """As the registers hold them, 64 bits each."""

    def integer(self, index: int) -> int:
        """An argument of type int."""
        value = self.args[index] & 0xFFFFFFFF
        return value - (1 << 32) if value >> 31 else value

    def alive(self) -> bool:
        """True while the task waits in this call."""
        return kernel.still_waiting(self.listener, _IDENTITY.pack(self.id))

    def read(self, address: int, size: int) -> bytes:
        """Exactly `size` bytes of the task's memory. Raises OSError(EFAULT) if they are not all there."""
        if size == 0:
            return b""
        if size <= _SMALL:
            return _few.read(self.tid, address, size)
        buffer = ctypes.create_string_buffer(size)
        if self.read_into(ctypes.addressof(buffer), [(address, size)]) != size:
            raise OSError(errno.EFAULT, "unreadable")
        return buffer.raw

    def read_into(self, target: int, ranges: list[tuple[int, int]]) -> int:
        """Copy ranges of the task's memory one behind the other; gives how much could be read."""
        local = (kernel.Iovec * 1)(kernel.Iovec(target, sum(size for _, size in ranges)))
        remote = (kernel.Iovec * len(ranges))(*(kernel.Iovec(address, size) for address, size in ranges))
        return kernel.read_vectors(self.tid, local, remote, len(ranges))

    def string(self, address: int) -> bytes:
        """A zero-terminated string. Raises OSError(EFAULT) if its end cannot be reached."""
        found = b""
        while len(found) < _STRING_LIMIT:
            size = 256 - (address + len(found)) % 256  # never across a page that may not be there
            part = self.read(address + len(found), size)
            head, end, _ = part.partition(b"\0")
            found += head
            if end:
                return found
        raise OSError(errno.ENAMETOOLONG, "no end")

    def write(self, address: int, data: bytes) -> bool:
        """Write into the task's memory, if it still waits."""
        with open(f"/proc/{self.tid}/mem", "r+b", buffering=0) as memory:
            # The file stays this task's even if its number is used again, so this check holds for the write below.
            if not self.alive():
                return False
            return os.pwrite(memory.fileno(), data, address) == len(data)

    def duplicate(self, fd: int) -> int:
        """Our own descriptor for one of the task's open files. Raises OSError(EBADF) if it has none such."""
        try:
            return kernel.pidfd_getfd(_few.pidfd(self.tid), fd)
        except OSError as error:
            if error.errno != errno.ESRCH:
                raise
        _few.forget(self.tid)  # the number is another task's by now
        return kernel.pidfd_getfd(_few.pidfd(self.tid), fd)


def _pidfd(tid: int) -> int:
    try:
        return kernel.pidfd_open(tid, abi.PIDFD_THREAD)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    # Before Linux 6.9 only the leader's table can be had. Decision and action use the same duplicate, so this is safe.
    return kernel.pidfd_open(int(status(tid).get("Tgid", tid)))


def status(pid: int) -> dict[str, str]:
    """The fields of /proc/PID/status; empty when there is no such task."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return {key: value.strip() for key, _, value in (line.partition(":") for line in file)}
    except OSError:
        return {}


def lineage(pid: int, root: int) -> list[tuple[int, str]]:
    """The process and its ancestors below `root`, nearest first, each with its name; ends early where one is gone."""
    chain: list[tuple[int, str]] = []
    while pid not in (0, root) and len(chain) < 64:
        fields = status(pid)
        if not fields:
            break
        pid = int(fields["Tgid"])
        chain.append((pid, _program(pid) or fields["Name"]))
        pid = int(fields["PPid"])
    return chain


def _program(pid: int) -> str:
    """The file it runs; what a process calls itself it can choose, and Node calls itself MainThread."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).removesuffix(" (deleted)")
    except OSError:
        return ""


def descends(pid: int, root: int) -> bool:
    """True when `root` is an ancestor of the process."""
    for _ in range(64):
        parent = int(status(pid).get("PPid", 0))
        if parent in (0, root):
            return parent == root
        pid = parent
    return False
