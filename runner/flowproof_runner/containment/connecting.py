"""connect(2), carried out by the supervisor on its own copy of the address and its own duplicate of the socket."""

from __future__ import annotations

import errno
import os
import socket

from flowproof_runner.containment import kernel, sockaddr, sockets, unix
from flowproof_runner.containment.blocked import Blocked
from flowproof_runner.containment.context import Context
from flowproof_runner.containment.notify import Reply
from flowproof_runner.containment.policy import Decision
from flowproof_runner.containment.sockaddr import Endpoint
from flowproof_runner.containment.target import Call


class Connecting:
    """Handles connect."""

    def __init__(self, context: Context, blocked: Blocked) -> None:
        self._context = context
        self._blocked = blocked

    def __call__(self, call: Call) -> Reply:
        """Carry the call out, if the policy allows."""
        size = call.integer(2)
        if not 0 <= size <= sockaddr.LIMIT:
            return -errno.EINVAL
        address = call.read(call.args[1], size)
        fd = call.duplicate(call.integer(0))
        try:
            if not call.alive():
                return -errno.EINTR
            return self._judged(call, fd, address)
        finally:
            os.close(fd)

    def _judged(self, call: Call, fd: int, address: bytes) -> int:
        if (plain := self._context.policy.at_once(address)) is not None:  # the common case
            return self._carried_out(call, fd, plain)
        read = self._context.policy.read(address)
        nature = sockets.Nature(fd)
        if nature.family == socket.AF_UNIX:
            if sockaddr.family(address) != socket.AF_UNIX:
                return self._carried_out(call, fd, address)  # dissolves, or is refused by the kernel
            return unix.reach(self._context, call, address, lambda to: self._carried_out(call, fd, to), fd)
        if nature.family == socket.AF_NETLINK:
            return -kernel.connect(fd, address)
        if not nature.inet:
            return -errno.EPERM
        if sockaddr.family(address) == socket.AF_UNSPEC and len(address) >= 2:
            with self._context.binding:  # dissolving changes the local address that listen looks at
                return -kernel.connect(fd, address)
        if read is None:
            return -(errno.EINVAL if sockaddr.family(address) in sockets.INET else errno.EAFNOSUPPORT)
        return self._reach(call, fd, nature, address, *read)

    def _reach(
        self, call: Call, fd: int, nature: sockets.Nature, address: bytes, to: Endpoint, decision: Decision
    ) -> int:
        match decision:
            case Decision.DENY:
                # A datagram socket that is connected has sent nothing: resolvers sort addresses that way.
                kind = "probe" if nature.kind == socket.SOCK_DGRAM else "denied"
                self._context.refuse(kind, call, to, nature.protocol)
                return -errno.EACCES
            case Decision.DNS:
                result = self._carried_out(call, fd, nameserver(self._context, nature.family))
                asked_by(self._context, call, fd, address)
                return result
            case Decision.ALLOW:
                return self._carried_out(call, fd, sockaddr.without_flow(address))

    def _carried_out(self, call: Call, fd: int, address: bytes) -> int:
        if self._context.crowded() and sockets.waits(fd):
            return -errno.ENOBUFS
        self._blocked.begin(call)
        try:
            return -kernel.connect(fd, address)
        finally:
            self._blocked.end(call)


def nameserver(context: Context, family: int) -> bytes:
    """The address of our own name server for a socket of this family. Raises OSError when there is none."""
    server = context.nameserver6 if family == socket.AF_INET6 and context.nameserver6 else context.nameserver
    if server is None:
        raise OSError(errno.ENETUNREACH, "no name server")
    return sockaddr.pack(server.ip, server.port, family)


def asked_by(context: Context, call: Call, fd: int, address: bytes) -> None:
    """Remember whose socket this is, so that a question that comes from it has an asker, and whom it meant to ask."""
    own = sockaddr.endpoint(sockets.local_address(fd))
    if own and not own.port:  # it would get one as it sends, and the question would be there before we knew
        kernel.bind(fd, sockaddr.pack(own.ip, 0, sockets.Nature(fd).family))
        own = sockaddr.endpoint(sockets.local_address(fd))
    if own and own.port:
        context.askers[own.port] = call.tid
        context.asked[own.port] = address
