"""Which file a task's path stands for, told as a path of ours."""

from __future__ import annotations

import os
import re
from typing import Final

from flowproof_runner.containment.target import Call

UNRESOLVED: Final = "(unresolved)"
ELSEWHERE: Final = "(own mounts)"
"""In front of a path that leads a task with mounts of its own to another file than it leads us."""
_STREAMS = {f"/dev/{name}": f"/dev/fd/{fd}" for fd, name in enumerate(("stdin", "stdout", "stderr"))}
_OWN_FD = r"^(/dev/fd|/proc/(self|thread-self)/fd)/(?=\d+$)"
_FD = r"/proc/\d+/(task/\d+/)?fd/\d+"
_HERE = -100
"""AT_FDCWD."""


def named(call: Call, folder: int | None, path: int) -> str:
    """The absolute path in argument `path`, below the open folder in argument `folder`."""
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
    start = link(f"/proc/{call.tid}/cwd" if fd == _HERE else f"/proc/{call.tid}/fd/{fd}")
    return start if start == UNRESOLVED else os.path.normpath(os.path.join(start, name))


def real(tid: int, path: str, *, follow: bool) -> str:
    """The file behind the task's path: neither a link nor a mount may lead out of a folder unseen."""
    if path == UNRESOLVED:
        return path
    path = re.sub(_OWN_FD, f"/proc/{tid}/fd/", _STREAMS.get(path, path))
    if re.fullmatch(_FD, path):
        if link(path) == UNRESOLVED:
            return UNRESOLVED
        if _nameless(path):
            return f"/dev/fd/{os.path.basename(path)}"
    head, tail = os.path.split(path)
    found = os.path.realpath(path) if follow else os.path.join(os.path.realpath(head), tail)
    return found if _same_mounts(tid) or _same_file(tid, found) else f"{ELSEWHERE} {path}"


def link(path: str) -> str:
    """Where a link leads, UNRESOLVED where that cannot be read."""
    try:
        return os.readlink(path)
    except OSError:
        return UNRESOLVED


def _nameless(path: str) -> bool:
    """True for a descriptor of no file: a pipe, a socket, memory. A file may be called what memory is shown as."""
    target = link(path)
    if in_memory(target):
        try:
            return os.stat(path).st_nlink == 0
        except OSError:
            return False
    return not target.startswith("/")


def may_exist(path: str) -> bool:
    """False only where it is known which file that is, and that it is not there."""
    return not path.startswith("/") or os.path.lexists(path)


def in_memory(path: str) -> bool:
    """True for what memfd_create made: it has a descriptor and no name."""
    return path.startswith("/memfd:") and path.endswith(" (deleted)")


def _same_mounts(tid: int) -> bool:
    """True where any path leads the task to what it leads us to."""
    try:
        return all(
            os.path.samestat(os.stat(f"/proc/{tid}/{of}"), os.stat(f"/proc/self/{of}")) for of in ("ns/mnt", "root")
        )
    except OSError:
        return False


def _same_file(tid: int, path: str) -> bool:
    """True where a path without links is the same file to both, or will be once it is made."""
    for _ in range(2):
        theirs, ours = _inode(f"/proc/{tid}/root", path), _inode("/", path)
        if theirs or ours:
            return theirs == ours
        path = os.path.dirname(path)
    return False


def _inode(root: str, path: str) -> tuple[int, int] | None:
    """Device and inode of what is there; None where nothing is, or a link on the way."""
    fd = os.open(root, os.O_PATH | os.O_DIRECTORY)
    try:
        for part in path.strip("/").split("/"):
            inner = os.open(part, os.O_PATH | os.O_NOFOLLOW, dir_fd=fd)
            os.close(fd)
            fd = inner
        found = os.fstat(fd)
        return found.st_dev, found.st_ino
    except OSError:
        return None
    finally:
        os.close(fd)
