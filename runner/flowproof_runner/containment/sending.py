"""sendto, sendmsg and sendmmsg, carried out by the supervisor, message by message, from its own copy.

The kernel is never told to go on with one of these: a task can swap the descriptor or the address in between.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import struct
from collections.abc import Callable

from flowproof_runner.containment import abi, control, kernel, sockaddr, sockets, unix
from flowproof_runner.containment.connecting import asked_by, nameserver
from flowproof_runner.containment.context import Context
from flowproof_runner.containment.delivery import VECTORS, Outgoing, deliver
from flowproof_runner.containment.notify import Answer, Reply
from flowproof_runner.containment.policy import Decision
from flowproof_runner.containment.receiving import MSGHDR
from flowproof_runner.containment.target import Call, status

_MMSGHDR_SIZE = MSGHDR.size + 8
_BATCH = 1024
_INT_MAX = 0x7FFFFFFF


class Sending:
    """Handles the three ways to send."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def sendto(self, call: Call) -> Reply:
        """Handle sendto with an address; without one it is not trapped."""
        size = call.integer(5)
        if not 0 <= size <= sockaddr.LIMIT:
            return -errno.EINVAL
        name = call.read(call.args[4], size)
        message = Outgoing([(call.args[1], min(call.args[2], _INT_MAX))], name)
        return self._with_socket(call, lambda fd: self._send(call, fd, message, call.integer(3)))

    def sendmsg(self, call: Call) -> Reply:
        """Handle sendmsg."""
        message = _outgoing(call, call.args[1])
        return self._with_socket(call, lambda fd: self._send(call, fd, message, call.integer(2)))

    def sendmmsg(self, call: Call) -> Reply:
        """Handle sendmmsg: each message is judged by itself; the first refused one ends the batch."""
        return self._with_socket(call, lambda fd: self._batch(call, fd))

    def _batch(self, call: Call, fd: int) -> int:
        count, flags = min(call.args[2] & 0xFFFFFFFF, _BATCH), call.integer(3)
        for index in range(count):
            at = call.args[1] + index * _MMSGHDR_SIZE
            try:
                sent = self._send(call, fd, _outgoing(call, at), flags)
            except OSError as error:
                sent = -(error.errno or errno.EPERM)
            if sent < 0:
                return index or sent
            call.write(at + MSGHDR.size, struct.pack("=I", sent))
        return count

    def _with_socket(self, call: Call, act: Callable[[int], int]) -> Reply:
        fd = call.duplicate(call.integer(0))
        try:
            if not call.alive():
                return -errno.EINTR
            result = act(fd)
            if result == -errno.EPIPE and _raises_signal(call, fd):
                # The signal follows the answer: sent before, it would find the task still inside the call.
                return Answer(result, lambda: _broken_pipe(call.tid))
            return result
        except control.Steering as refused:
            return -(refused.errno or errno.EPERM)
        finally:
            os.close(fd)

    def _send(self, call: Call, fd: int, message: Outgoing, flags: int) -> int:
        if flags & abi.MSG_FASTOPEN:
            return -errno.EOPNOTSUPP  # it connects; for sendto the filter says so already
        nature = sockets.Nature(fd)
        if nature.inet:
            return self._inet(call, fd, nature, message, flags)
        if nature.family == socket.AF_UNIX:
            return self._unix(call, fd, nature, message, flags)
        if nature.family == socket.AF_NETLINK:
            return self._deliver(call, fd, nature, message._replace(name=_netlink_name(message.name)), flags)
        return -errno.EPERM

    def _deliver(self, call: Call, fd: int, nature: sockets.Nature, message: Outgoing, flags: int) -> int:
        return deliver(call, fd, nature, message, flags, self._context.crowded)

    def _inet(self, call: Call, fd: int, nature: sockets.Nature, message: Outgoing, flags: int) -> int:
        safe = control.for_inet(message.control) if message.control else b""
        name = b""
        # A stream goes where it is connected to; with fast open refused the kernel does not look at the address.
        if message.name and nature.kind != socket.SOCK_STREAM:
            read = self._context.policy.read(message.name)
            if read is None:
                return -errno.EINVAL
            to, decision = read
            match decision:
                case Decision.DENY:
                    self._context.refuse("denied", call, to, nature.protocol)
                    return -errno.EACCES
                case Decision.DNS:
                    name = nameserver(self._context, nature.family)
                    asked_by(self._context, call, fd, message.name)
                case Decision.ALLOW:
                    name = sockaddr.without_flow(message.name)
        return self._deliver(call, fd, nature, Outgoing(message.vectors, name, safe), flags)

    def _unix(self, call: Call, fd: int, nature: sockets.Nature, message: Outgoing, flags: int) -> int:
        if not message.name and not message.control:
            return self._deliver(call, fd, nature, message, flags)
        held: list[int] = []
        try:
            ready = message._replace(control=control.for_unix(call, message.control, held))
            if not message.name:
                return self._deliver(call, fd, nature, ready, flags)
            return unix.reach(
                self._context,
                call,
                message.name,
                lambda to: self._deliver(call, fd, nature, ready._replace(name=to), flags),
            )
        finally:
            control.release(held)


def _outgoing(call: Call, at: int) -> Outgoing:
    """Read a struct msghdr. Raises OSError as the kernel would if it is not one."""
    name, name_size, vectors, count, extra, extra_size, _ = MSGHDR.unpack(call.read(at, MSGHDR.size))
    if name_size > _INT_MAX:
        raise OSError(errno.EINVAL, "a negative length")
    if count > VECTORS:
        raise OSError(errno.EMSGSIZE, "too many vectors")
    if extra_size > control.LIMIT:
        raise OSError(errno.ENOBUFS, "too much control data")
    pairs = list(struct.iter_unpack("@PN", call.read(vectors, count * 16)))
    return Outgoing(
        [(address, min(size, _INT_MAX)) for address, size in pairs],
        call.read(name, min(name_size, sockaddr.LIMIT)) if name else b"",
        call.read(extra, extra_size) if extra else b"",
    )


def _netlink_name(name: bytes) -> bytes:
    """Nothing, where the address says no more than "the kernel".

    With an address the kernel asks for the sender's privileges alone, without one for the opener's as well.
    """
    return b"" if len(name) >= 12 and name[4:12] == bytes(8) else name


def _raises_signal(call: Call, fd: int) -> bool:
    flags = call.integer(2 if call.number == abi.NUMBER["sendmsg"] else 3)
    return not flags & socket.MSG_NOSIGNAL and sockets.Nature(fd).kind == socket.SOCK_STREAM


def _broken_pipe(tid: int) -> None:
    if leader := status(tid).get("Tgid"):
        with contextlib.suppress(OSError):
            kernel.syscall("tgkill", int(leader), tid, signal.SIGPIPE)
