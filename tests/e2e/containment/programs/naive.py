"""A supervisor as a plain reading of the mechanism would have it: check what was copied, then let the kernel go on.

It exists to be beaten: a race test proves something only if it can be lost.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Mapping

from flowproof_runner.containment import abi, landlock, sockaddr, sockets, supervisor
from flowproof_runner.containment.blocked import Blocked
from flowproof_runner.containment.context import Context
from flowproof_runner.containment.notify import CONTINUE, Handler, Reply
from flowproof_runner.containment.policy import Decision
from flowproof_runner.containment.target import Call


def handlers(context: Context, blocked: Blocked) -> Mapping[int, Handler]:
    real = supervisor.handlers(context, blocked)

    def connect(call: Call) -> Reply:
        to = sockaddr.endpoint(call.read(call.args[1], call.integer(2)))
        if to and context.policy.decide(to) is Decision.ALLOW and call.alive():
            return CONTINUE
        return real[call.number](call)

    def sendmsg(call: Call) -> Reply:
        fd = call.duplicate(call.integer(0))
        try:
            exempt = sockets.Nature(fd).family == socket.AF_UNIX
        except OSError:
            return -errno.EBADF
        finally:
            os.close(fd)
        return CONTINUE if exempt else real[call.number](call)

    return {**real, abi.NUMBER["connect"]: connect, abi.NUMBER["sendmsg"]: sendmsg}


def main(second_layer: bool = True) -> None:
    if not second_layer:
        landlock.available = lambda: 0
    supervisor.main(handlers)
