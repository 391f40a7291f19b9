"""Serving a listener with as many threads as calls are blocked at once."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from flowproof_runner.containment.notify import CONTINUE, Handler, Listener, Reply
from flowproof_runner.containment.target import Call

THREADS: Final = 128
REPEAT_S: Final = 1.0


class Crew:
    """Threads that each take a call, handle it, answer it; the last idle one hires another before it starts work."""

    def __init__(
        self, listener: Listener, handlers: Mapping[int, Handler], fault: Callable[[str], None], limit: int = THREADS
    ) -> None:
        self._listener = listener
        self._handlers = handlers
        self._fault = fault
        self._limit = limit
        self._lock = threading.Lock()
        self._idle = 0
        self._hired = 0
        self._done: dict[tuple[int, int, tuple[int, ...]], tuple[float, Reply]] = {}
        self._tasks: dict[int, threading.Lock] = {}

    def hire(self) -> None:
        """Start one more thread."""
        with self._lock:
            self._idle += 1
            self._hired += 1
        try:
            threading.Thread(target=self._work, daemon=True).start()
        except RuntimeError:  # the user may have no more: those we have go on, and do not block
            with self._lock:
                self._idle -= 1
                self._hired -= 1
                if not self._hired:
                    raise

    @property
    def crowded(self) -> bool:
        """True when a handler must not block: every other thread is busy and no more may be hired."""
        return self._idle <= 0

    def _work(self) -> None:
        while True:
            try:
                call = self._listener.receive()
            except OSError as error:
                self._fault(f"the queue of trapped calls failed: {error}")
                return
            if call is None:
                continue
            with self._lock:
                self._idle -= 1
                short = self._idle == 0 and self._hired < self._limit
            if short:
                self.hire()
            self._serve(call)
            with self._lock:
                self._idle += 1

    def _serve(self, call: Call) -> None:
        if self._listener.killable:
            self._listener.answer(call, self._handled(call))
            return
        # A second call of one task means that a signal took it out of the first, which may still be going on.
        with self._tasks.setdefault(call.tid, threading.Lock()):
            self._serve_once(call)

    def _serve_once(self, call: Call) -> None:
        """Carry out a call, unless it is one that a signal made the task repeat after it was carried out."""
        key = (call.tid, call.number, call.args)
        when, reply = self._done.pop(key, (0.0, CONTINUE))
        if time.monotonic() - when > REPEAT_S:
            reply = self._handled(call)
        if not self._listener.answer(call, reply) and isinstance(reply, int) and reply >= 0:
            self._done[key] = time.monotonic(), reply

    def _handled(self, call: Call) -> Reply:
        try:
            return self._handlers[call.number](call)
        except OSError as error:
            if not call.alive():
                return -errno.EINTR  # nobody is left to read it
            if error.errno in (errno.EPERM, errno.ESRCH):
                self._fault(f"system call {call.number} of process {call.tid} could not be judged: {error}")
                return -errno.EPERM
            return -(error.errno or errno.EPERM)
        except Exception as error:  # a process boundary: whatever is wrong with us, the call is refused
            self._fault(f"system call {call.number} of process {call.tid} could not be judged: {error!r}")
            return -errno.EPERM
