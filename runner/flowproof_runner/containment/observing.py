"""The system calls that destroy or replace a file: noted, never prevented.

The call goes on in the kernel after this, so a path may be stale; that such a call was made cannot be hidden.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Callable
from typing import NamedTuple

from flowproof_runner.containment import abi, places
from flowproof_runner.containment.context import Context
from flowproof_runner.containment.notify import CONTINUE, Handler, Reply
from flowproof_runner.containment.target import Call

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
        if shape.fd is None:
            seen = [places.named(call, folder, path) for folder, path in shape.paths]
        else:
            seen = [f"/proc/{call.tid}/fd/{call.integer(shape.fd)}"]
        if context.policy.writes:
            follow = shape.follows or shape.fd is not None
            seen = [places.real(call.tid, path, follow=follow) for path in seen]
        elif shape.fd is not None:
            seen = [places.link(path) for path in seen]
        tell(context, call, name, seen, flags)
        return CONTINUE

    return observe


def tell(context: Context, call: Call, name: str, paths: list[str], flags: int | None = None) -> None:
    """Note one call and its paths, but for our own folder's."""
    if call.alive() and not _ours(context, paths):
        existed = flags is None or any(map(places.may_exist, paths))
        context.journal.tell("file", call=name, paths=paths, flags=_named(flags), existed=existed)


def _open_how(context: Context, call: Call) -> int | None:
    """The flags of an openat2; None when they cannot be read, which leaves open whether it destroys."""
    try:
        return int(struct.unpack("=Q", call.read(call.args[2], 8))[0])
    except OSError as error:
        if error.errno != errno.EFAULT:  # EFAULT: the kernel will refuse it as well
            context.journal.fault(f"an openat2 of process {call.tid} could not be read: {error}")
        return None


def _ours(context: Context, paths: list[str]) -> bool:
    told_apart = context.policy.writes  # `real` knows memory from a file of that name
    return all(
        path == "/dev/null" or path.startswith(context.folder + "/") or (not told_apart and places.in_memory(path))
        for path in paths
    )


def _named(flags: int | None) -> str:
    if flags is None:
        return ""
    return "|".join(name for name in _FLAGS if flags & getattr(os, name))
