"""Moving a task's bytes into its socket, with the waiting, the partial sends and the interruptions of the real call."""

from __future__ import annotations

import ctypes
import errno
import select
import socket
import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from flowproof_runner.containment import abi, kernel, sockets
from flowproof_runner.containment.blocked import wanted
from flowproof_runner.containment.target import Call

CHUNK: Final = 128 * 1024
"""How much of a stream is copied at a time."""
DATAGRAM: Final = 4 * 1024 * 1024
"""A datagram has to be copied whole; the kernel's own limit, the send buffer, lies far below."""
VECTORS: Final = 1024
_WAIT_MS: Final = 50
_SO_SNDTIMEO: Final = 21

_thread = threading.local()


class Outgoing(NamedTuple):
    """One message: where its bytes lie in the task, and what goes with them."""

    vectors: list[tuple[int, int]]
    """Address and length."""
    name: bytes = b""
    """The raw destination to use; empty for none."""
    control: bytes = b""

    @property
    def size(self) -> int:
        """All its bytes."""
        return sum(size for _, size in self.vectors)


def deliver(
    call: Call, fd: int, nature: sockets.Nature, message: Outgoing, flags: int, crowded: Callable[[], bool]
) -> int:
    """Send the message; gives the number of bytes sent or minus an errno."""
    stream, began = nature.kind == socket.SOCK_STREAM, time.monotonic()
    if message.size > DATAGRAM and not stream:
        return -errno.EMSGSIZE
    done, control = 0, message.control
    deadline: float | None = None
    while True:
        size, buffer = _copied(call, message, done, CHUNK if stream else message.size)
        if not call.alive():
            return done or -errno.EINTR
        sent = _send(fd, message.name, buffer, size, control, flags)
        if sent >= 0:
            done, control = done + sent, b""  # what goes with the message goes once
            if not stream or done >= message.size or (sent < size and not sockets.waits(fd, flags)):
                return done
        elif sent != -errno.EAGAIN or not sockets.waits(fd, flags):
            return done or sent
        elif crowded():
            return done or -errno.ENOBUFS
        else:
            deadline = deadline or began + (sockets.timeout_s(fd, _SO_SNDTIMEO) or float("inf"))
            if (stopped := wait(call, fd, select.POLLOUT, deadline)) is not None:
                return done or stopped


def _send(fd: int, name: bytes, buffer: int, size: int, control: bytes, flags: int) -> int:
    ours = flags | socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL
    vector = kernel.Iovec(buffer, size)
    header = kernel.Msghdr(name or None, len(name), ctypes.pointer(vector), 1, control or None, len(control), 0)
    return kernel.sendmsg(fd, header, ours)


def _copied(call: Call, message: Outgoing, start: int, limit: int) -> tuple[int, int]:
    """The next bytes of the message, in this thread's buffer. Raises OSError(EFAULT) if none can be read."""
    ranges = _slice(message.vectors, start, limit)
    wanted_size = sum(size for _, size in ranges)
    buffer = _scratch(wanted_size)
    if wanted_size == 0:
        return 0, buffer
    size = call.read_into(buffer, ranges)
    if size < wanted_size and limit == message.size:
        raise OSError(errno.EFAULT, "a datagram that cannot be read whole")
    return size, buffer


def _slice(vectors: list[tuple[int, int]], start: int, limit: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for address, size in vectors:
        if start >= size:
            start -= size
            continue
        take = min(size - start, limit)
        if take:
            found.append((address + start, take))
        start, limit = 0, limit - take
        if not limit:
            break
    return found


def _scratch(size: int) -> int:
    """A buffer of this thread's own, kept from call to call unless it had to be unusually large."""
    if size > CHUNK:
        _thread.large = ctypes.create_string_buffer(size)
        return ctypes.addressof(_thread.large)
    if not hasattr(_thread, "buffer"):
        _thread.buffer = ctypes.create_string_buffer(CHUNK)
    return ctypes.addressof(_thread.buffer)


def wait(call: Call, fd: int, event: int, deadline: float) -> int | None:
    """Wait until there may be room, or something to read; None to try again, else the answer."""
    poll = select.poll()
    poll.register(fd, event)
    while True:
        left_ms = (deadline - time.monotonic()) * 1000
        if left_ms <= 0:
            return -errno.EAGAIN
        if poll.poll(min(left_ms, _WAIT_MS)):
            return None
        if not call.alive():
            return -errno.EINTR
        if wanted(call.tid):
            return -abi.ERESTARTSYS
