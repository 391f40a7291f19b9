"""Starting and ending mitmdump. Imports nothing heavy: mitmdump takes half a second, and everything else can wait."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from flowproof_addons import SCRIPT, FlowproofError

_STOP_S = 5.0
_DYING_S = 1.0
_ROOM = 64 * 1024
"""Bytes without which mitmproxy cannot even start."""


class BoundaryError(FlowproofError):
    """The boundary process could not be started, or died."""


class BoundaryProcess:
    """One mitmdump (or mitmweb) with our addons, and our end of its control socket."""

    def __init__(self, folder: Path, *, web: bool = False, options: tuple[str, ...] = ()) -> None:
        self.log = folder / "boundary.log"
        """What mitmproxy and our addons print."""
        self._certificates = folder / "mitmproxy"
        executable = Path(sys.executable).with_name("mitmweb" if web else "mitmdump")
        if not executable.exists():
            raise BoundaryError(f"{executable.name} is not beside {sys.executable}; reinstall flowproof")
        folder.mkdir(parents=True, exist_ok=True)
        self.socket, theirs = socket.socketpair()
        with theirs:
            config = folder / "boundary.json"
            config.write_text(json.dumps({"control_fd": theirs.fileno()}))
            settings = (f"confdir={self._certificates}", f"flowproof_config={config}", *options)
            quiet = () if web else ("-q",)
            argv = [str(executable), *quiet, "-n", "-s", str(SCRIPT), *(w for s in settings for w in ("--set", s))]
            self._process = self._spawn(argv, theirs.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()

    def last_words(self) -> str:
        """Why it ended, as far as that is known: a signal, no room on the disk, or the last line of its log."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if (code := self._process.wait(_DYING_S)) < 0:
                return f"killed by {signal.Signals(-code).name} (where nobody did that, the machine ran out of memory)"
        try:
            room = os.statvfs(self.log.parent)
            lines = self.log.read_text(errors="replace").split("\n")
        except OSError as error:
            return f"{self.log} cannot be read: {error.strerror}"
        if room.f_bavail * room.f_frsize < _ROOM:
            return f"no space is left in {self.log.parent}; make room, then try again"
        said = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
        return f"{said}; see {self.log}"

    def end(self) -> int | None:
        """End it, always: hanging up ends it by itself, then TERM, then KILL. Its exit code, negative for a signal."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        for harder in (self._process.terminate, self._process.kill, None):
            try:
                self._process.wait(_STOP_S)
                break
            except subprocess.TimeoutExpired:
                if harder is not None:
                    harder()
        shutil.rmtree(self._certificates, ignore_errors=True)  # a CA key mitmproxy makes and we have no use for
        self.socket.close()
        return self._process.returncode

    def kill(self) -> None:
        """End it at once: nobody has used it."""
        self._process.kill()
        self._process.wait()
        self.socket.close()

    def _spawn(self, argv: list[str], descriptor: int) -> subprocess.Popen[bytes]:
        with self.log.open("wb") as log:
            return subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(descriptor,),
                start_new_session=True,  # Ctrl-C is ours to handle: it must outlive the agent
                env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},  # that one is meant for the agent
            )
