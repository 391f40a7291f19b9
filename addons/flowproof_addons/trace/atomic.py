"""Files that are there whole or not at all, even when the disk fills up or the process dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

_KEPT = 32
"""Characters of a name that its temporary file keeps: with all of a long one it would be longer than a name may be."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock: one writer at a time, and no lock file left behind. Makes the folder if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write(path: Path, data: bytes) -> None:
    """Put `data` in the place of `path`: temporary file, fsync, rename. Readable by its owner alone until it is whole.

    A symbolic link is followed, a device or pipe is written into. The file keeps its mode; a new one gets the usual
    one. Raises OSError.
    """
    path = Path(os.path.realpath(path))  # `resolve` gives up on links that lead in a circle
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(data)
        return
    temporary = path.with_name(f".{path.name[:_KEPT]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(handle, "wb") as file:
            mode = path.stat().st_mode & 0o7777 if path.exists() else os.fstat(handle).st_mode & 0o7777
            os.fchmod(handle, 0o600)
            file.write(data)
            file.flush()
            os.fsync(handle)
            os.fchmod(handle, mode)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def write_once(path: Path, data: bytes) -> None:
    """Write a file whose name is made from its content, unless it is there already."""
    if not path.is_file() or path.stat().st_size != len(data):
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, data)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
