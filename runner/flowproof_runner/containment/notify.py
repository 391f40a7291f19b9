"""Taking trapped calls from the kernel and answering them, with as many threads as calls are blocked at once."""

from __future__ import annotations

import errno
import fcntl
import struct
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from flowproof_runner.containment import abi
from flowproof_runner.containment.target import Call

CONTINUE: Final = "continue"
"""Let the kernel carry the call out. Only for calls that no argument can turn into egress."""
THREADS: Final = 128
REPEAT_S: Final = 1.0
_EMPTY = bytes(abi.NOTIF_SIZE)


class Answer(NamedTuple):
    """What the task sees its call return."""

    value: int
    """The result, or minus an errno."""
    afterwards: Callable[[], None] | None = None
    """Done when the answer has been delivered."""


type Reply = Answer | int | str
"""A full answer, a bare value, or CONTINUE."""
type Handler = Callable[[Call], Reply]


class Listener:
    """The kernel's queue of trapped calls of one tree."""

    def __init__(self, fd: int, *, killable: bool) -> None:
        self.fd = fd
        self.killable = killable
        """False on kernels before 5.19, where a signal may repeat a call that has been carried out.

        In all but one case that is noticed: a signal in the moment between our answer and the task's taking it.
        """

    def receive(self) -> Call | None:
        """The next call; None when one vanished while it was fetched."""
        try:
            raw = fcntl.ioctl(self.fd, abi.IOCTL_RECV, _EMPTY)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):
                return None
            raise
        identity, tid, _, number, _, _, *args = struct.unpack(abi.NOTIF, raw)
        return Call(self.fd, identity, tid, number, tuple(args))

    def answer(self, call: Call, reply: Reply) -> bool:
        """Deliver the reply; False when the task no longer waits for it."""
        value = reply.value if isinstance(reply, Answer) else reply
        if isinstance(value, str):
            response = struct.pack(abi.RESPONSE, call.id, 0, 0, abi.USER_NOTIF_FLAG_CONTINUE)
        else:
            response = struct.pack(abi.RESPONSE, call.id, max(value, 0), min(value, 0), 0)
        try:
            fcntl.ioctl(self.fd, abi.IOCTL_SEND, response)
        except OSError:
            return False
        if isinstance(reply, Answer) and reply.afterwards:
            reply.afterwards()
        return True


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
