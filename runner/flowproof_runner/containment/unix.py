"""AF_UNIX addresses: resolved to a file by us, so that what is judged is what is connected to.

A path is looked up where the task would look it up (its root, its working directory) and then reached through the
descriptor found. Who is at the other end matters: a daemon outside the tree can act where the agent cannot.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Callable
from typing import NamedTuple

from flowproof_runner.containment import sockaddr, sockets
from flowproof_runner.containment.context import Context
from flowproof_runner.containment.daemons import Kind, kind_of
from flowproof_runner.containment.target import Call, descends, status

_SELF, _THREAD_SELF = b"/proc/self/", b"/proc/thread-self/"


class Name(NamedTuple):
    """A resolved address."""

    shown: str
    """For reports: the real path, `@name` for an abstract one, empty for none."""
    raw: bytes
    """What to hand to the kernel."""
    fd: int | None = None
    """Held open while `raw` points through it."""
    file: tuple[int, int] | None = None
    """Device and inode of the socket's file."""

    @property
    def abstract(self) -> bool:
        """True for a name in the abstract namespace, which no file stands for."""
        return self.shown.startswith("@")

    @property
    def key(self) -> bytes:
        """An abstract name as it is kept of those bound inside the tree."""
        return sockaddr.unix_name(self.raw)

    @property
    def target(self) -> str:
        """The destination in a report."""
        return f"unix:{self.shown}"

    def close(self) -> None:
        """Let the file go."""
        if self.fd is not None:
            os.close(self.fd)


def resolve(call: Call, address: bytes) -> Name:
    """Find what an address names. Raises OSError as connect would if there is no such file."""
    name = sockaddr.unix_name(address)
    if not name or name[:1] == b"\0":
        return Name("@" + name[1:].decode(errors="replace") if name else "", address)
    fd = os.open(seen_by(call, name), os.O_PATH | os.O_CLOEXEC)
    shown = os.readlink(f"/proc/self/fd/{fd}")
    status = os.fstat(fd)
    raw = struct.pack("=H", socket.AF_UNIX) + f"/proc/self/fd/{fd}".encode() + b"\0"
    return Name(shown, raw, fd, (status.st_dev, status.st_ino))


def seen_by(call: Call, path: bytes) -> bytes:
    """The task's path as one of ours."""
    leader = f"/proc/{status(call.tid).get('Tgid', call.tid)}" if names_itself(path) else ""
    if path.startswith(_SELF):
        path = f"{leader}/".encode() + path.removeprefix(_SELF)
    elif path.startswith(_THREAD_SELF):
        path = f"{leader}/task/{call.tid}/".encode() + path.removeprefix(_THREAD_SELF)
    start = f"/proc/{call.tid}/{'root' if path.startswith(b'/') else 'cwd'}".encode()
    return start + b"/" + path.lstrip(b"/")


def names_itself(path: bytes) -> bool:
    """True for a path below /proc/self, which means another process to us."""
    return path.startswith((_SELF, _THREAD_SELF))


def reach(
    context: Context, call: Call, address: bytes, act: Callable[[bytes], int], connected: int | None = None
) -> int:
    """Connect or send to a socket file or an abstract name, unless whoever listens there is out of bounds.

    `act` does it, to the address it is given, and returns what the task shall see; `connected` is the socket it
    connects.
    """
    name = resolve(call, address)
    try:
        if not call.alive():
            return -errno.EINTR
        inside = name.key in context.abstract if name.abstract else name.file in context.files or None
        if context.policy.certify and not inside:
            known = context.policy.daemon_at(*name.file) if name.file else None
            shown = known or name.shown
            if refused := _out_of_bounds(shown, inside):
                context.report(refused, call, f"unix:{shown}", "unix", path=shown, inside=inside, refused=True)
                return -errno.EACCES
        result = act(name.raw)
        peer = sockets.peer_pid(connected) if connected is not None and result == 0 else None
        if peer:  # the supervisor itself, where the other end came to be through it
            inside = peer == context.root or descends(peer, context.root)
        if name.shown and context.first((call.tid, name.shown)):
            context.report("unix", call, name.target, "unix", path=name.shown, inside=inside, refused=False)
        return result
    finally:
        name.close()


def _out_of_bounds(name: str, inside: bool | None) -> str | None:
    """The event a refusal is, None where there is nothing to refuse.

    Landlock's rule for abstract names asks about the caller, and the caller is the supervisor, so it is applied here.
    """
    match kind_of(name):
        case Kind.RESOLVER:
            return "unix"
        case Kind.ESCAPE:
            return "denied"
        case Kind.PLAIN:
            return "denied" if inside is False else None
