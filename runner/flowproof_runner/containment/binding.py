"""bind(2) and listen(2), carried out by the supervisor: nothing in the tree listens to another machine."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket

from flowproof_runner.containment import kernel, observing, places, sockaddr, sockets, unix
from flowproof_runner.containment.context import Context
from flowproof_runner.containment.notify import Reply
from flowproof_runner.containment.sockaddr import Endpoint
from flowproof_runner.containment.target import Call, status

_LOOPBACK = ipaddress.IPv4Address("127.0.0.1")
_LOOPBACK6 = ipaddress.IPv6Address("::1")
_V6ONLY = 26


class Binding:
    """Handles bind: loopback as asked, a wildcard for streams narrowed to loopback, anything else refused."""

    def __init__(self, context: Context) -> None:
        self._context = context

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
            with self._context.binding:
                return self._judged(call, fd, address)
        finally:
            os.close(fd)

    def _judged(self, call: Call, fd: int, address: bytes) -> int:
        nature = sockets.Nature(fd)
        if nature.family == socket.AF_UNIX:
            return self._unix(call, fd, address)
        if nature.family == socket.AF_NETLINK:
            return -kernel.bind(fd, address)
        if not nature.inet:
            return -errno.EPERM
        to = sockaddr.endpoint(address)
        if to is None:
            return -errno.EINVAL
        if to.ip.is_unspecified:
            return self._wildcard(call, fd, nature, address, to)
        if not self._context.policy.is_home(to.ip):
            self._context.refuse("listen", call, to, nature.protocol)
            return -errno.EACCES
        return -kernel.bind(fd, sockaddr.without_flow(address))

    def _wildcard(self, call: Call, fd: int, nature: sockets.Nature, address: bytes, to: Endpoint) -> int:
        if nature.kind == socket.SOCK_STREAM:
            narrowed = narrow(fd, nature, to.port)
            self._context.report("narrowed", call, str(to), nature.protocol, now=str(sockaddr.endpoint(narrowed)))
            return -kernel.bind(fd, narrowed)
        if to.port == 0:  # what a client does before it sends
            return -kernel.bind(fd, sockaddr.without_flow(address))
        self._context.refuse("listen", call, to, nature.protocol)
        return -errno.EACCES

    def _unix(self, call: Call, fd: int, address: bytes) -> int:
        name = sockaddr.unix_name(address)
        if name[:1] not in (b"", b"\0"):
            if self._context.policy.writes:
                path = places.real(call.tid, places.absolute(call, name), follow=False)
                observing.tell(self._context, call, "bind", [path])
            return self._at_path(call, fd, address, name)
        result = -kernel.bind(fd, address)
        if result == 0:  # an empty name is chosen by the kernel
            self._context.abstract.add(sockaddr.unix_name(sockets.local_address(fd)))
        return result

    def _at_path(self, call: Call, fd: int, address: bytes, name: bytes) -> int:
        """Bind where the task stands and with its umask, to the very name it gave: programs read it back.

        Where that name means something else to us (another root, /proc/self) only its last part is used. The caller
        holds the lock: the working directory and the umask are this whole process's, and nobody else in it needs
        either.
        """
        given = address
        place = f"/proc/{call.tid}/cwd".encode()
        if unix.names_itself(name) or not os.path.samestat(os.stat(f"/proc/{call.tid}/root"), os.stat("/")):
            place = os.path.dirname(unix.seen_by(call, name))
            given = address[:2] + os.path.basename(name) + b"\0"
        mask = os.umask(int(status(call.tid).get("Umask", "0077"), 8))
        try:
            os.chdir(place)
            if not call.alive():
                return -errno.EINTR
            result = -kernel.bind(fd, given)
            if result == 0:
                made = os.lstat(sockaddr.unix_name(given))
                self._context.files.add((made.st_dev, made.st_ino))
            return result
        finally:
            os.umask(mask)
            os.chdir("/")


class Listening:
    """Handles listen: a stream socket that was never bound is bound to loopback first."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def __call__(self, call: Call) -> Reply:
        """Carry the call out, if the policy allows."""
        fd = call.duplicate(call.integer(0))
        try:
            if not call.alive():
                return -errno.EINTR
            with self._context.binding:
                return self._judged(call, fd, call.integer(1))
        finally:
            os.close(fd)

    def _judged(self, call: Call, fd: int, backlog: int) -> int:
        nature = sockets.Nature(fd)
        if nature.inet:
            at = sockaddr.endpoint(sockets.local_address(fd))
            if at is None:
                return -errno.EINVAL
            if at.ip.is_unspecified and not at.port:
                narrowed = narrow(fd, nature, 0)
                self._context.report("narrowed", call, str(at), nature.protocol, now=str(sockaddr.endpoint(narrowed)))
                if number := kernel.bind(fd, narrowed):
                    return -number
            elif not self._context.policy.is_home(at.ip):
                self._context.refuse("listen", call, at, nature.protocol)
                return -errno.EACCES
        number = kernel.listen(fd, backlog)
        if nature.inet and number == 0:
            return self._confirmed(call, fd, nature)
        return -number

    def _confirmed(self, call: Call, fd: int, nature: sockets.Nature) -> int:
        """Look again: a connection given up (shutdown is not trapped) while we looked takes its address with it."""
        at = sockaddr.endpoint(sockets.local_address(fd))
        if at and not at.ip.is_unspecified and self._context.policy.is_home(at.ip):
            return 0
        kernel.connect(fd, sockaddr.DISSOLVE)
        if at:
            self._context.refuse("listen", call, at, nature.protocol)
        return -errno.EACCES


def narrow(fd: int, nature: sockets.Nature, port: int) -> bytes:
    """The loopback address that a wildcard becomes; v4-mapped where the socket would have served both families."""
    if nature.family == socket.AF_INET6 and sockets.number(fd, socket.IPPROTO_IPV6, _V6ONLY):
        return sockaddr.pack(_LOOPBACK6, port, nature.family)
    return sockaddr.pack(_LOOPBACK, port, nature.family)
