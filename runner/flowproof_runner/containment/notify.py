"""The kernel's queue of trapped calls: taking one, and answering it."""

from __future__ import annotations

import errno
import fcntl
import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from flowproof_runner.containment import abi
from flowproof_runner.containment.target import Call

CONTINUE: Final = "continue"
"""Let the kernel carry the call out. Only for calls that no argument can turn into egress."""
_EMPTY = bytes(abi.NOTIF_SIZE)
_NOTIF = struct.Struct(abi.NOTIF)
_RESPONSE = struct.Struct(abi.RESPONSE)


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
        identity, tid, _, number, *_ = values = _NOTIF.unpack(raw)
        return Call(self.fd, identity, tid, number, values[6:])

    def answer(self, call: Call, reply: Reply) -> bool:
        """Deliver the reply; False when the task no longer waits for it."""
        value = reply.value if isinstance(reply, Answer) else reply
        if isinstance(value, str):
            response = _RESPONSE.pack(call.id, 0, 0, abi.USER_NOTIF_FLAG_CONTINUE)
        else:
            response = _RESPONSE.pack(call.id, max(value, 0), min(value, 0), 0)
        try:
            fcntl.ioctl(self.fd, abi.IOCTL_SEND, response)
        except OSError:
            return False
        if isinstance(reply, Answer) and reply.afterwards:
            reply.afterwards()
        return True
