"""What becomes of an error that is ours: one line for the user, the traceback in a file that can be sent to us."""

from __future__ import annotations

import errno
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flowproof_addons import FlowproofError

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO)


class Bug(Exception):
    """A bug of flowproof whose traceback was written down."""

    def __init__(self, error: BaseException, traceback_file: Path) -> None:
        super().__init__(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
        self.traceback_file = traceback_file


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Within, an error that no user can mend is written to `folder` and flies on as a Bug."""
    try:
        yield
    except (FlowproofError, Bug):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _DISK:
            raise
        raise Bug(error, _write(error, folder)) from error


def tell(error: Exception) -> str:
    """What the user reads. A full disk, or one that is read-only or broken, is no bug wherever it is met."""
    if isinstance(error, OSError) and error.errno in _DISK:
        what = f"{str(error.filename)!r} cannot be written" if error.filename else "something cannot be written"
        return f"{what}: {error.strerror}"
    bug = error if isinstance(error, Bug) else Bug(error, _write(error, None))
    return f"this is a bug in flowproof ({bug}): please report it with {bug.traceback_file}"


def _write(error: BaseException, folder: Path | None) -> Path:
    text = "".join(traceback.format_exception(error))
    try:
        return _file(text, folder)
    except OSError:
        return _file(text, None)


def _file(text: str, folder: Path | None) -> Path:
    with tempfile.NamedTemporaryFile("w", prefix="bug-", suffix=".txt", dir=folder, delete=False) as file:
        file.write(text)
    return Path(file.name)
