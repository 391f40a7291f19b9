"""A recorded reply, ready for the wire of the client that asks."""

from __future__ import annotations

from dataclasses import dataclass

from flowproof_addons.dialects import framing
from flowproof_addons.dialects.base import Dialect, WireReply
from flowproof_addons.trace.body import wire
from flowproof_addons.trace.model import JsonBody, Reply, Request


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes to the agent."""

    reply: WireReply
    cut: bool = False
    """Break the connection after the body, as the upstream did."""


def answer(reply: Reply, dialect: Dialect | None, request: Request) -> Answer:
    """The recording in the form this client reads: its frames, a stream made from JSON, or JSON made from a stream."""
    if reply.frames is not None and (dialect is None or dialect.wants_stream(request)):
        return Answer(WireReply(reply.status, reply.headers, b"".join(reply.frames)), reply.cut)
    if reply.frames is None and reply.status < 400 and dialect is not None and dialect.wants_stream(request):
        return Answer(_streamed(reply, dialect, request), reply.cut)
    if reply.frames is not None:
        headers = {**reply.headers, "content-type": "application/json"}
        return Answer(WireReply(reply.status, headers, wire(reply.body, "application/json")), reply.cut)
    return Answer(WireReply(reply.status, reply.headers, wire(reply.body, _type(reply))), reply.cut)


def _streamed(reply: Reply, dialect: Dialect, request: Request) -> WireReply:
    if not isinstance(reply.body, JsonBody):
        return WireReply(reply.status, reply.headers, wire(reply.body, _type(reply)))
    frames = framing.of(dialect.framing)
    events = dialect.synthesise(reply.body.value, request)
    headers = {**reply.headers, "content-type": frames.content_type}
    return WireReply(reply.status, headers, b"".join(frames.frames(events)))


def _type(reply: Reply) -> str:
    return reply.headers.get("content-type", "")
