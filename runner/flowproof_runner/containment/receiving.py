"""recvfrom(2) and recvmsg(2) of answers to questions that were led to our own name server.

musl and c-ares take an answer only from the address they asked, so the answer is given out as coming from there.
Whatever else is received is the kernel's business: nothing leaves the machine by receiving.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import select
import socket
import struct
import time
from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

from flowproof_runner.containment import sockaddr, sockets
from flowproof_runner.containment.context import Context
from flowproof_runner.containment.delivery import VECTORS, wait
from flowproof_runner.containment.notify import CONTINUE, Reply
from flowproof_runner.containment.target import Call

MSGHDR = struct.Struct("@PI4xPNPNi4x")
_DATAGRAM = 65536
_SO_RCVTIMEO = 20
_NOT_OURS = socket.MSG_ERRQUEUE | socket.MSG_TRUNC


class _Datagram(NamedTuple):
    data: bytes
    flags: int
    sender: bytes
    """Raw address."""


class Receiving:
    """Handles the two ways to receive with a sender's address."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def recvfrom(self, call: Call) -> Reply:
        """Handle recvfrom with room for an address; without it is not trapped."""

        def place(got: _Datagram) -> int:
            data = got.data[: call.args[2]]
            room = int.from_bytes(call.read(call.args[5], 4), "little")
            call.write(call.args[1], data)
            call.write(call.args[4], got.sender[:room])
            call.write(call.args[5], struct.pack("=I", len(got.sender)))
            return len(data)

        return self._answered(call, call.integer(3), place)

    def recvmsg(self, call: Call) -> Reply:
        """Handle recvmsg, which is trapped only on machines with musl: its resolver is the one that needs it."""

        def place(got: _Datagram) -> int:
            at = call.args[1]
            name, room, vectors, count, _, _, _ = MSGHDR.unpack(call.read(at, MSGHDR.size))
            left, done = got.data, 0
            for base, size in struct.iter_unpack("@PN", call.read(vectors, min(count, VECTORS) * 16)):
                call.write(base, left[:size])
                done, left = done + len(left[:size]), left[size:]
            if name:
                call.write(name, got.sender[:room])
                call.write(at + 8, struct.pack("=I", len(got.sender)))
            call.write(at + 40, struct.pack("=Qi", 0, got.flags | (socket.MSG_TRUNC if left else 0)))
            return done

        return self._answered(call, call.integer(2), place)

    def _answered(self, call: Call, flags: int, place: Callable[[_Datagram], int]) -> Reply:
        if not self._context.asked or flags & _NOT_OURS:
            return CONTINUE
        fd = call.duplicate(call.integer(0))
        try:
            if not call.alive():
                return -errno.EINTR
            if (asked := self._asked(fd)) is None:
                return CONTINUE
            got = self._received(call, fd, flags, asked)
            return got if isinstance(got, int) else place(got)
        finally:
            os.close(fd)

    def _asked(self, fd: int) -> bytes | None:
        """Whom the task believes to have asked by this socket; None when it asked no name server."""
        nature = sockets.Nature(fd)
        if not nature.inet or nature.kind != socket.SOCK_DGRAM:
            return None
        own = sockaddr.endpoint(sockets.local_address(fd))
        return self._context.asked.get(own.port) if own else None

    def _received(self, call: Call, fd: int, flags: int, asked: bytes) -> _Datagram | int:
        """The next datagram, or minus an errno."""
        limit_s = sockets.timeout_s(fd, _SO_RCVTIMEO)
        deadline = time.monotonic() + (limit_s or float("inf"))
        with closing(socket.socket(fileno=os.dup(fd))) as one:
            while True:
                try:
                    data, _, found, sender = one.recvmsg(_DATAGRAM, 0, flags | socket.MSG_DONTWAIT)
                    return _Datagram(data, found, self._shown(one.family, sender, asked))
                except OSError as error:
                    if error.errno != errno.EAGAIN or not sockets.waits(fd, flags):
                        return -(error.errno or errno.EIO)
                if self._context.crowded():
                    return -errno.ENOBUFS
                if (stopped := wait(call, fd, select.POLLIN, deadline)) is not None:
                    return stopped

    def _shown(self, family: int, sender: tuple[str, int], asked: bytes) -> bytes:
        ip = ipaddress.ip_address(sender[0].partition("%")[0])
        servers = (self._context.nameserver, self._context.nameserver6)
        ours = sockaddr.plain(ip).is_loopback and sender[1] in {one.port for one in servers if one}
        return asked if ours else sockaddr.pack(ip, sender[1], family)
