"""The executable an agent spawns instead of its real stdio server: one file, no arguments, no environment.

A byte pump to the lane server, nothing more: agents' MCP clients spawn servers with HOME and PATH only, and every
import would be paid at each spawn, so it uses what the interpreter has built in.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

_PUMP = """\
import _signal, _socket, _thread, fcntl, os, stat, sys, time
_signal.signal(_signal.SIGINT, _signal.SIG_DFL)
_signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
s = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
try:
    s.connect({address!r})
except OSError:
    os.write(2, b"flowproof: the run this MCP stand-in belongs to is over\\n")
    os._exit(1)
s.sendall(b"\\0".join(({token!r}, str(os.getpid()).encode(), os.fsencode(os.getcwd()))) + b"\\0\\n")
QUEUED = {outq} if stat.S_ISSOCK(os.fstat(1).st_mode) else {inq}
def unread():
    try:
        return any(fcntl.ioctl(1, QUEUED, bytes(4)))
    except OSError:
        return False
def up():
    global QUEUED
    while data := os.read(0, 65536):
        s.sendall(data)
    QUEUED = 0  # who waits for the end reads no more
    s.shutdown(_socket.SHUT_WR)
_thread.start_new_thread(up, ())
begins = True
while data := s.recv(65536):
    while data:
        patience = time.monotonic() + {patience}
        while begins and unread() and time.monotonic() < patience:
            time.sleep(0.0005)
        end = data.find(b"\\n") + 1 or len(data)
        line, data = data[:end], data[end:]
        begins = line.endswith(b"\\n")
        while line:
            line = line[os.write(1, line):]
os._exit(0)
"""
PATIENCE_S = 2.0
"""So long a message waits for the one before it to be read. Of two in one read clients may lose the first: those on the
TypeScript SDK 2.x lost all notifications that came with their answer, in 2 of 20 replays on a busy machine."""

HELLO_END = b"\0\n"
_LONGEST_SHEBANG = 120
_LONGEST_FOLDER = 60
_PREFIX = "flowproof_"


def write(folder: Path, name: str, address: str, token: str) -> Path:
    """Write the stand-in for one server into `folder`; its path has no spaces."""
    import termios  # not on Windows, where a suite without stand-ins can still be loaded

    queued = {"inq": termios.FIONREAD, "outq": termios.TIOCOUTQ}
    code = _PUMP.format(address=address, token=token.encode(), patience=PATIENCE_S, **queued)
    path = folder / name
    if " " in sys.executable or len(sys.executable) > _LONGEST_SHEBANG:
        script = folder / f"{name}.py"
        script.write_text(code, encoding="utf-8")
        path.write_text(f"#!/bin/sh\nexec '{_quoted(sys.executable)}' -I -S '{script}'\n", encoding="utf-8")
    else:
        path.write_text(f"#!{sys.executable} -IS\n{code}", encoding="utf-8")
    path.chmod(0o700)
    return path


class Folder:
    """A new private folder for stand-ins and their sockets: short enough for a socket's name, and executable.

    It is held by a lock as long as this process lives. Whoever makes one removes those that nobody holds: a killed
    boundary leaves nothing for longer than until the next.
    """

    def __init__(self) -> None:
        base = next(filter(_suits, (tempfile.gettempdir(), "/tmp", "/var/tmp", str(Path.home()))), None)
        if base is not None:
            sweep(Path(base))
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        self._held = _lock(self.path)

    def close(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None


def sweep(base: Path, *, unlocked_s: float = 60.0) -> None:
    """Remove the folders whose makers are gone; a young one may only just not be locked yet."""
    for left in base.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            status = left.stat()
            if status.st_uid != os.geteuid() or time.time() - status.st_mtime < unlocked_s:
                continue
            if (held := _lock(left)) is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(held)


def _suits(base: str) -> bool:
    if " " in base or len(base) > _LONGEST_FOLDER or not os.access(base, os.W_OK):
        return False
    return not os.statvfs(base).f_flag & getattr(os, "ST_NOEXEC", 0)


def _lock(folder: Path) -> int | None:
    """Hold a folder until the descriptor is closed or this process is gone; None when another holds it."""
    import fcntl  # not on Windows, where a suite without stand-ins can still be loaded

    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd


def _quoted(word: str) -> str:
    return word.replace("'", "'\\''")
