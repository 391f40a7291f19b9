"""The spec's `faults:` at the model boundary: in the place of an answer, or done to it, in both phases alike."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Callable, Mapping
from weakref import WeakSet

from mitmproxy import http
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.connection import ConnectionState

from flowproof_addons.hooks.crossing import cut_off, detach, of, port, send
from flowproof_addons.hooks.fail_closed import fail_closed
from flowproof_addons.live import capture
from flowproof_addons.live.answer import answer
from flowproof_addons.live.crossing import ABANDONED, Crossing, Due
from flowproof_addons.live.pacer import Job, Pacer
from flowproof_addons.live.spoiled import UnspoilableError, failure, spoiled
from flowproof_addons.trace import body
from flowproof_addons.trace.model import BytesBody, Reply

_POLL_S = 0.02
_NOTHING = Reply(ABANDONED, BytesBody(b""))
_ABORTIVE = struct.pack("ii", 1, 0)


class Failing:
    """Between the substitution of results and the model: sees a request as the model would."""

    def __init__(self, pacers: Mapping[int, Pacer], server: Callable[[], Proxyserver]) -> None:
        self._pacers = pacers
        """Per port of a model listener, where slow answers come from."""
        self._server = server
        self._slow: WeakSet[http.HTTPFlow] = WeakSet()

    @fail_closed
    async def request(self, flow: http.HTTPFlow) -> None:
        crossing = of(flow)
        if crossing is None or flow.response is not None or crossing.settled or crossing.due is not None:
            return
        due = crossing.live.due(crossing)
        if due is None:
            return
        if due.fault.kind not in ("cut", "malformed"):
            crossing.live.faults.fired(due.fault)
        match due.fault.kind:
            case "answer":
                _refuse(flow, crossing, due)
            case "timeout":
                await _silence(flow, crossing, due)
            case "closed":
                crossing.live.faulted(crossing, due, _NOTHING)
                flow.kill()
            case "reset":
                crossing.live.faulted(crossing, due, _NOTHING)
                self._reset(flow)
            case "slow":
                self._slowly(flow, crossing, due)
            case _:
                _spoil(flow, crossing, due)

    @fail_closed
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        if flow in self._slow and flow.response is not None:
            flow.response.stream = True

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> None:
        """At record: the upstream's answer is there, and the fault is done to it."""
        crossing = of(flow)
        if crossing is None or crossing.settled or crossing.due is None or flow.response is None:
            return
        reply = _captured(flow.response, crossing)
        if reply.status >= 400:
            crossing.due = None  # the upstream's own failure; the request that repeats this one gets the fault
        elif crossing.due.fault.kind == "slow":
            crossing.fetched = reply
            crossing.settled = True
        else:
            _done(flow, crossing, crossing.due, reply)

    def _slowly(self, flow: http.HTTPFlow, crossing: Crossing, due: Due) -> None:
        """From here on this flow is only a pipe from the pacer: the crossing goes on there."""
        pacer = self._pacers[port(flow)]
        token = pacer.expect(Job(crossing, due))
        crossing.due = due
        detach(flow)
        self._slow.add(flow)
        flow.request.headers[pacer.TOKEN] = token
        flow.request.scheme = "http"
        flow.request.host, flow.request.port = pacer.address

    def _reset(self, flow: http.HTTPFlow) -> None:
        for handler in self._server().connections.values():
            transport = handler.transports.get(flow.client_conn)
            if transport is not None and isinstance(transport.writer, asyncio.StreamWriter):
                raw: socket.socket = transport.writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORTIVE)
                transport.writer.transport.abort()
        flow.kill()


def _refuse(flow: http.HTTPFlow, crossing: Crossing, due: Due) -> None:
    assert crossing.dialect is not None
    reply = failure(due.fault, crossing.dialect)
    crossing.live.faulted(crossing, due, body.reply(reply.status, dict(reply.headers), reply.body))
    send(flow, reply)


async def _silence(flow: http.HTTPFlow, crossing: Crossing, due: Due) -> None:
    crossing.live.faulted(crossing, due, _NOTHING)
    began = time.monotonic()
    while (waited := time.monotonic() - began) < due.fault.seconds and not crossing.live.closed.is_set():
        if ConnectionState.CAN_READ not in flow.client_conn.state:
            break
        await asyncio.sleep(_POLL_S)
    else:
        waited = due.fault.seconds
    whole = waited >= due.fault.seconds
    said = f"the agent waited all of {due.fault.seconds:g} s" if whole else f"the agent gave up after {waited:.1f} s"
    crossing.live.faults.remark(due.fault, said)
    flow.kill()


def _spoil(flow: http.HTTPFlow, crossing: Crossing, due: Due) -> None:
    if due.recorded is None:
        crossing.due = due
    elif due.recorded.exchange.fault is not None:
        _give(flow, crossing, due, due.recorded.exchange.reply)  # recorded as it was done then
    else:
        _done(flow, crossing, due, due.recorded.exchange.reply)


def _done(flow: http.HTTPFlow, crossing: Crossing, due: Due, reply: Reply) -> None:
    assert crossing.dialect is not None
    try:
        _give(flow, crossing, due, spoiled(due.fault, reply, crossing.dialect, crossing.request))
    except UnspoilableError as error:
        crossing.due = None
        crossing.live.faults.remark(due.fault, str(error))


def _give(flow: http.HTTPFlow, crossing: Crossing, due: Due, reply: Reply) -> None:
    crossing.live.faults.fired(due.fault)
    crossing.live.faulted(crossing, due, reply)
    served = answer(reply, crossing.dialect, crossing.request)
    send(flow, served.reply)
    if served.cut:
        cut_off(flow, len(served.reply.body))


def _captured(response: http.Response, crossing: Crossing) -> Reply:
    headers = list(response.headers.items(True))
    return capture.reply(response.status_code, headers, response.raw_content or b"", crossing.dialect, cut=False)
