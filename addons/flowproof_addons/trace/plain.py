"""Reading files that people name: a pipe or device in the place of one is refused, not waited for."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read(path: Path) -> bytes:
    """The content of a file. Raises OSError, also where it is none."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe that nobody writes to opens at once
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise OSError(errno.EINVAL, "it is no file but a pipe or device", str(path))
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)
