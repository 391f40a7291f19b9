"""A folder for one run at a path that is the same in every run.

Agents put their directories into prompts, some in forms no pin could find again (hashed, shortened, as part of a
name). So the path is the same whenever possible, `/tmp/flowproof/NAME`; a run beside it that needs the same name
takes `NAME-2`, and the boundary maps one to the other.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from flowproof_runner.drivers.base import DriverError

_LONGEST = 40
"""A socket below it must have a name of 107 bytes at most."""


@contextmanager
def claimed(name: str) -> Iterator[Path]:
    """An empty folder that is this run's alone for as long as the block lasts, and gone after it.

    Raises DriverError if there is no place for it.
    """
    base, short = _base(), re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:_LONGEST].strip("-.") or "flow"
    for number in count(1):
        folder = base / (short if number == 1 else f"{short}-{number}")
        lock = _locked(folder)
        if lock is None:
            continue
        try:
            _empty(folder)  # a killed run leaves its folder behind
            yield folder
        finally:
            shutil.rmtree(folder, onexc=_force)
            os.close(lock)
        return


def _base() -> Path:
    """The folder that holds them: everybody's first choice, unless it is somebody else's."""
    for base in (Path("/tmp/flowproof"), Path(tempfile.gettempdir()) / f"flowproof-{os.getuid()}"):
        try:
            base.mkdir(mode=0o700, exist_ok=True)
            found = base.lstat()
        except OSError:
            continue
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and os.access(base, os.W_OK | os.X_OK):
            return base
    raise DriverError(f"no folder for the agent's home and workspace can be made in /tmp or {tempfile.gettempdir()}")


def _locked(folder: Path) -> int | None:
    """A descriptor that holds the folder; None when another run has it."""
    import fcntl  # not on every system on which specs can be read

    while True:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # removed in between by the run that had it
        except OSError as error:
            raise DriverError(f"{folder} cannot be used: {error.strerror}; remove it") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), folder.lstat()):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except FileNotFoundError:
            pass  # as above: what we hold is no longer there
        os.close(descriptor)


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, onexc=_force)
        else:
            entry.unlink()


def _force(function: Callable[..., object], path: str, error: BaseException) -> None:
    """Module caches are read-only on purpose; here they go."""
    if isinstance(error, FileNotFoundError):
        return
    os.chmod(os.path.dirname(path), 0o700)
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
        shutil.rmtree(path, onexc=_give_up)
    else:
        function(path)


def _give_up(function: Callable[..., object], path: str, error: BaseException) -> None:
    if not isinstance(error, FileNotFoundError):
        raise DriverError(f"{path}, which the agent left, cannot be removed: {error}; remove it") from error
