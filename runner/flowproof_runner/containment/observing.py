"""The system calls that destroy or replace a file: noted, never prevented.

The call goes on in the kernel after this, so a path may be stale; that such a call was made cannot be hidden.
"""

from __future__ import annotations

import errno
import os
import re
import struct
from collections.abc import Callable
from typing import NamedTuple

from flowproof_runner.containment import abi
from flowproof_runner.containment.context import Context
from flowproof_runner.containment.notify import CONTINUE, Handler, Reply
from flowproof_runner.containment.target import Call

UNRESOLVED = "(unresolved)"
_STREAMS = {f"/dev/{name}": f"/dev/fd/{fd}" for fd, name in enumerate(("stdin", "stdout", "stderr"))}
_OWN_FD = r"^(/dev/fd|/proc/(self|thread-self)/fd)/(?=\d+$)"
_FD = r"/proc/\d+/(task/\d+/)?fd/\d+"
_HERE = -100
"""AT_FDCWD."""
_FLAGS = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_EXCL", "O_TRUNC", "O_APPEND")


class Shape(NamedTuple):
    """Where a system call has its paths: pairs of arguments, directory (None: the working one) and path."""

    paths: tuple[tuple[int | None, int], ...] = ()
    flags: int | None = None
    """The argument with open flags."""
    fd: int | None = None
    """The argument with an open file, where there is no path."""
    follows: bool = False
    """True where a symbolic link at the end of the path leads on."""


SHAPES = {
    "unlink": Shape(((None, 0),)),
    "rmdir": Shape(((None, 0),)),
    "creat": Shape(((None, 0),), follows=True),
    "truncate": Shape(((None, 0),), follows=True),
    "ftruncate": Shape(fd=0),
    "open": Shape(((None, 0),), flags=1, follows=True),
    "openat": Shape(((0, 1),), flags=2, follows=True),
    "openat2": Shape(((0, 1),), follows=True),
    "unlinkat": Shape(((0, 1),)),
    "rename": Shape(((None, 0), (None, 1))),
    "renameat": Shape(((0, 1), (2, 3))),
    "renameat2": Shape(((0, 1), (2, 3))),
    "mkdir": Shape(((None, 0),)),
    "mkdirat": Shape(((0, 1),)),
    "mknod": Shape(((None, 0),)),
    "mknodat": Shape(((0, 1),)),
    "symlink": Shape(((None, 1),)),
    "symlinkat": Shape(((1, 2),)),
    "link": Shape(((None, 1),)),
    "linkat": Shape(((2, 3),)),
}


def handlers(context: Context) -> dict[int, Handler]:
    """A handler for each of them."""
    return {abi.NUMBER[name]: _observer(context, name, shape) for name, shape in SHAPES.items() if name in abi.NUMBER}


def _observer(context: Context, name: str, shape: Shape) -> Callable[[Call], Reply]:
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT if context.policy.writes else 0
    concern = os.O_TRUNC | writing

    def observe(call: Call) -> Reply:
        flags = call.args[shape.flags] & 0xFFFFFFFF if shape.flags is not None else None
        if name == "openat2":
            flags = _open_how(context, call)
            if flags is None or not flags & concern:
                return CONTINUE
        paths = [_path(call, folder, path) for folder, path in shape.paths]
        if context.policy.writes:
            paths = [_real(call, path, follow=shape.follows) for path in paths]
        if shape.fd is not None:
            paths = [_link(f"/proc/{call.tid}/fd/{call.integer(shape.fd)}")]
        tell(context, call, name, paths, flags)
        return CONTINUE

    return observe


def tell(context: Context, call: Call, name: str, paths: list[str], flags: int | None = None) -> None:
    """Note one call and its paths, but for our own folder's."""
    if call.alive() and not _ours(context, paths):
        existed = flags is None or any(map(os.path.lexists, paths)) or UNRESOLVED in paths
        context.journal.tell("file", call=name, paths=paths, flags=_named(flags), existed=existed)


def _open_how(context: Context, call: Call) -> int | None:
    """The flags of an openat2; None when they cannot be read, which leaves open whether it destroys."""
    try:
        return int(struct.unpack("=Q", call.read(call.args[2], 8))[0])
    except OSError as error:
        if error.errno != errno.EFAULT:  # EFAULT: the kernel will refuse it as well
            context.journal.fault(f"an openat2 of process {call.tid} could not be read: {error}")
        return None


def _path(call: Call, folder: int | None, path: int) -> str:
    try:
        name = call.string(call.args[path])
    except OSError:
        return UNRESOLVED
    return absolute(call, name, _HERE if folder is None else call.integer(folder))


def absolute(call: Call, raw: bytes, fd: int = _HERE) -> str:
    """The task's path as an absolute one; a relative one starts at its open folder, or at its working directory."""
    name = os.fsdecode(raw)
    if name.startswith("/"):
        return os.path.normpath(name)
    start = _link(f"/proc/{call.tid}/cwd" if fd == _HERE else f"/proc/{call.tid}/fd/{fd}")
    return start if start == UNRESOLVED else os.path.normpath(os.path.join(start, name))


def _real(call: Call, path: str, *, follow: bool) -> str:
    """The file behind the task's path: a link in a folder that may be written must not lead out of it unseen."""
    if path == UNRESOLVED or not _same_root(call.tid):
        return path
    path = re.sub(_OWN_FD, f"/proc/{call.tid}/fd/", _STREAMS.get(path, path))
    if re.fullmatch(_FD, path) and not _link(path).startswith("/"):
        return f"/dev/fd/{os.path.basename(path)}"  # a pipe, a socket: no file
    head, tail = os.path.split(path)
    return os.path.realpath(path) if follow else os.path.join(os.path.realpath(head), tail)


def _same_root(tid: int) -> bool:
    """True where the task's absolute paths are ours."""
    try:
        return os.path.samestat(os.stat(f"/proc/{tid}/root"), os.stat("/"))
    except OSError:
        return False


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return UNRESOLVED


def _ours(context: Context, paths: list[str]) -> bool:
    return all(path == "/dev/null" or path.startswith(context.folder + "/") or _in_memory(path) for path in paths)


def _in_memory(path: str) -> bool:
    """True for what memfd_create made: it has a descriptor and no name."""
    return path.startswith("/memfd:") and path.endswith(" (deleted)")


def _named(flags: int | None) -> str:
    if flags is None:
        return ""
    return "|".join(name for name in _FLAGS if flags & getattr(os, name))
