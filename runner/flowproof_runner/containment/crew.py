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
PATIENCE_S: Final = 0.05
REPEAT_S: Final = 1.0


class Crew:
    """Threads that each take a call, handle it, answer it.

    One does it all until a call takes long: since Linux 6.11 every thread that waits for a call wakes for each, and all
    but one for nothing. From then on the last idle one hires another before it starts work.
    """

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
        self._taken = 0
        self._answered = 0
        self._some = threading.Event()
        self._done: dict[tuple[int, int, tuple[int, ...]], tuple[float, Reply]] = {}
        self._tasks: dict[int, threading.Lock] = {}

    def hire(self, *, standby: bool = False) -> None:
        """Start one more thread; on standby it begins when a call takes long."""
        with self._lock:
            self._idle += 1
            self._hired += 1
        try:
            threading.Thread(target=self._stand_by if standby else self._work, daemon=True).start()
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

    def _stand_by(self) -> None:
        while True:
            self._some.wait()
            taken = self._taken
            time.sleep(PATIENCE_S)
            if self._answered < taken:
                break
            self._some.clear()
            if self._answered < self._taken:  # it came between the look and the clearing
                self._some.set()
        self._work()

    def _work(self) -> None:
        while True:
            try:
                call = self._listener.receive()
            except OSError as error:
                self._fault(f"the queue of trapped calls failed: {error}")
                return
            if call is None:
                continue
            self._taken += 1
            if not self._some.is_set():
                self._some.set()
            with self._lock:
                self._idle -= 1
                short = self._idle == 0 and self._hired < self._limit
            if short:
                self.hire()
            self._serve(call)
            self._answered += 1
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
