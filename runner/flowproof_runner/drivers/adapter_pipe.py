"""An adapter's process: lines out of its stdout, lines into its stdin, within limits and a deadline."""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from flowproof_runner.drivers import tree
from flowproof_runner.drivers.adapter_protocol import ProtocolViolation
from flowproof_runner.drivers.spawn import Launch, cannot_start
from flowproof_runner.drivers.tree import Stopped

MAX_STDOUT = 1 << 20
MAX_STDERR = 1 << 20
GRACE_S = 0.25

_STEP_S = 0.05


class AdapterTimeout(ProtocolViolation):
    """The adapter did not finish in time."""


@dataclass
class AdapterPipe:
    """One adapter process. Use as a context manager: on leaving, nothing of the process is left."""

    launch: Launch
    deadline: float
    """On the clock of `time.monotonic`."""
    interrupted: Callable[[], bool] = field(default=lambda: False)
    stopped: Stopped = field(default_factory=Stopped)
    ended: Event = field(default_factory=Event)
    _buffer: bytes = b""
    _read: int = 0
    _eof: bool = False
    _errors: _Stderr | None = None

    def __enter__(self) -> AdapterPipe:
        tree.adopt_orphans()
        try:
            self._process = subprocess.Popen(
                self.launch.words,
                cwd=self.launch.cwd,
                env=dict(self.launch.environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise cannot_start(self.launch, error) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._out.fileno(), False)
        os.set_blocking(self._in.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._errors = _Stderr(self._process.stderr.fileno(), self.launch.stderr)
        Thread(target=self._wait, name=f"adapter-{self._process.pid}", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._in.close()
        # An adapter that ended by itself and left nobody behind needs no search for strays.
        if not (self.ended.wait(0.01) and not _group_lives(self._process.pid)):
            self.stopped = tree.end(self._process.pid, self.launch.mark, GRACE_S, self.ended)
        self.ended.wait(1.0)
        self._selector.close()
        self._out.close()
        if self._errors is not None:
            self._errors.close()
        assert self._process.stderr is not None
        self._process.stderr.close()

    @property
    def stderr(self) -> str:
        """What the adapter wrote to stderr so far."""
        return "" if self._errors is None else self._errors.text

    def send(self, line: bytes) -> None:
        """Write one line.

        Raises ProtocolViolation if the adapter no longer reads, AdapterTimeout at the deadline.
        """
        view = memoryview(line)
        while view:
            try:
                view = view[os.write(self._in.fileno(), view) :]
            except BlockingIOError:
                self._check()
                time.sleep(_STEP_S / 10)
            except OSError as error:
                raise ProtocolViolation(f"the adapter no longer reads its stdin: {error.strerror}") from error

    def close_stdin(self) -> None:
        """Tell the adapter that nothing more will come."""
        with contextlib.suppress(OSError):
            self._in.close()

    def unread(self) -> int:
        """Bytes written to the adapter that it has not read yet; 0 where the system cannot tell."""
        if sys.platform != "linux" or self._in.closed:
            return 0
        with contextlib.suppress(OSError):
            return int.from_bytes(fcntl.ioctl(self._in.fileno(), termios.FIONREAD, b"\0" * 4), sys.byteorder)
        return 0

    def pending(self) -> bool:
        """True when the adapter has already written more."""
        if not self._buffer.strip():
            self._fill(0)
        return bool(self._buffer.strip())

    def line(self) -> bytes | None:
        """The next line that is not blank, None at the end of the adapter's stdout.

        Raises ProtocolViolation beyond the limits, AdapterTimeout at the deadline.
        """
        while True:
            head, newline, rest = self._buffer.partition(b"\n")
            if newline or (self._eof and head):
                self._buffer = rest
                if head.strip():
                    return head.rstrip(b"\r")
                continue
            if self._eof:
                return None
            self._check()
            self._fill(min(_STEP_S, max(0.0, self.deadline - time.monotonic())))

    def exit_code(self) -> int:
        """Wait for the adapter's end. Raises AdapterTimeout at the deadline, ProtocolViolation on more output."""
        while not self.ended.wait(0.002):
            self._check()
        assert self._process.returncode is not None
        return self._process.returncode

    def _fill(self, timeout_s: float) -> None:
        if self._eof or not self._selector.select(timeout_s):
            return
        try:
            data = os.read(self._out.fileno(), 65536)
        except BlockingIOError:
            return
        self._eof = not data
        self._read += len(data)
        if self._read > MAX_STDOUT:
            raise ProtocolViolation(f"the adapter wrote more than {MAX_STDOUT} bytes to stdout")
        self._buffer += data

    def _check(self) -> None:
        if self.interrupted():
            raise AdapterTimeout("the run was interrupted")
        if time.monotonic() >= self.deadline:
            raise AdapterTimeout("the adapter did not finish in time")
        if self._errors is not None and self._errors.size > MAX_STDERR:
            raise ProtocolViolation(f"the adapter wrote more than {MAX_STDERR} bytes to stderr")

    def _wait(self) -> None:
        self._process.wait()
        self.ended.set()


class _Stderr:
    """Drains stderr to a file and memory, for it must never block the adapter."""

    def __init__(self, descriptor: int, file: Path) -> None:
        self.size = 0
        self._parts: list[bytes] = []
        self._thread = Thread(target=self._drain, args=(descriptor, file), daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        return b"".join(self._parts).decode("utf-8", "replace")

    def close(self) -> None:
        self._thread.join(0.5)

    def _drain(self, descriptor: int, file: Path) -> None:
        with file.open("wb") as out:
            while data := self._next(descriptor):
                self.size += len(data)
                if self.size <= MAX_STDERR:
                    self._parts.append(data)
                    out.write(data)
                    out.flush()

    @staticmethod
    def _next(descriptor: int) -> bytes:
        with contextlib.suppress(OSError):
            return os.read(descriptor, 65536)
        return b""


def _group_lives(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
