"""Connections that block: let go of when a signal wants the task, or when the task is gone.

WAIT_KILLABLE_RECV keeps signals from interrupting a call that is being carried out. For a connection that may last
minutes that would make every alarm and Ctrl-C late, so a watcher looks at what has been pending for a while.
"""

from __future__ import annotations

import signal
import threading
import time
from typing import NamedTuple

from flowproof_runner.containment import abi
from flowproof_runner.containment.notify import Listener
from flowproof_runner.containment.target import Call, status

INTERVAL_S = 0.05


class _Pending(NamedTuple):
    call: Call
    thread: int
    since: float


def wanted(tid: int) -> bool:
    """True when a signal waits for the task that it neither blocks nor ignores."""
    fields = status(tid)
    if not fields:
        return False
    sent = int(fields["SigPnd"], 16) | int(fields["ShdPnd"], 16)
    return bool(sent & ~int(fields["SigBlk"], 16) & ~int(fields["SigIgn"], 16))


class Blocked:
    """The connections under way, and the thread that watches them."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._pending: dict[int, _Pending] = {}
        self._some = threading.Event()

    def start(self) -> None:
        """Begin to watch. Called once, in the main thread."""
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.siginterrupt(signal.SIGUSR1, True)
        threading.Thread(target=self._watch, daemon=True).start()

    def begin(self, call: Call) -> None:
        """Have this thread's call let go of from now on; `end` belongs in a finally."""
        self._pending[call.id] = _Pending(call, threading.get_ident(), time.monotonic())
        if not self._some.is_set():
            self._some.set()

    def end(self, call: Call) -> None:
        """The call is over."""
        self._pending.pop(call.id, None)

    def _watch(self) -> None:
        while True:
            self._some.wait()
            time.sleep(INTERVAL_S)
            if not self._pending:
                self._some.clear()
                # One that came between the look and the clearing must not wait for the next.
                if self._pending:
                    self._some.set()
                continue
            for pending in list(self._pending.values()):
                if time.monotonic() - pending.since > INTERVAL_S:
                    self._look(pending)

    def _look(self, pending: _Pending) -> None:
        gone = not pending.call.alive()
        if not gone and wanted(pending.call.tid):
            gone = self._listener.answer(pending.call, -abi.ERESTARTSYS)
        if gone and pending.call.id in self._pending:
            signal.pthread_kill(pending.thread, signal.SIGUSR1)
