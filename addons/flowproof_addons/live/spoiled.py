"""A model's answer with a fault done to it: cut off, or with the arguments of its tool calls broken."""

from __future__ import annotations

from dataclasses import replace

from flowproof_addons.dialects import framing, raw
from flowproof_addons.dialects.base import Dialect, ErrorText, Faulty, WireReply
from flowproof_addons.session import ModelFault
from flowproof_addons.trace.body import wire
from flowproof_addons.trace.model import BytesBody, JsonBody, Reply, Request

MESSAGE = "injected by flowproof (faults: in the spec)"


class UnspoilableError(Exception):
    """An answer to which this fault cannot be done; the message says why."""


def failure(fault: ModelFault, dialect: Dialect) -> WireReply:
    """The error of an `answer:` fault, in the shape its API has for that status."""
    if isinstance(dialect, Faulty):
        body = raw.compact(dialect.failure(fault.status, MESSAGE)).encode()
    else:
        body = dialect.error(ErrorText(MESSAGE)).body
    headers = {"content-type": "application/json"}
    if fault.retry_after_s is not None:
        headers["retry-after"] = f"{fault.retry_after_s:g}"
    return WireReply(fault.status, headers, body)


def spoiled(fault: ModelFault, reply: Reply, dialect: Dialect, request: Request) -> Reply:
    """What the agent gets of a reply. Raises UnspoilableError if the fault cannot be done to this one."""
    if fault.kind == "malformed":
        return malformed(reply, dialect, request)
    return cut(streamed(reply, dialect, request), dialect, fault.frames)


def streamed(reply: Reply, dialect: Dialect, request: Request) -> Reply:
    """The reply as a stream, where the client wants one and it was recorded without."""
    if reply.frames is not None or not isinstance(reply.body, JsonBody) or not dialect.wants_stream(request):
        return reply
    cutter = framing.of(dialect.framing)
    frames = cutter.frames(dialect.synthesise(reply.body.value, request))
    return replace(reply, frames=frames, headers={**reply.headers, "content-type": cutter.content_type})


def cut(reply: Reply, dialect: Dialect, count: int | None) -> Reply:
    """The first `count` frames of a stream, never all; None: half. Of an answer that is no stream, half its bytes."""
    if reply.frames is None:
        data = wire(reply.body, reply.headers.get("content-type", ""))
        return replace(reply, body=BytesBody(data[: len(data) // 2]), cut=True)
    kept = reply.frames[: min(len(reply.frames) // 2 if count is None else count, len(reply.frames) - 1)]
    value = dialect.assemble(framing.of(dialect.framing).events(kept))
    return replace(reply, body=BytesBody(b"") if value is None else JsonBody(value), frames=kept, cut=True)


def malformed(reply: Reply, dialect: Dialect, request: Request) -> Reply:
    """The reply with broken arguments in every tool call."""
    if not isinstance(dialect, Faulty):
        raise UnspoilableError(f"the dialect {dialect.name} cannot tell how its tool calls break")
    body = reply.body.value if isinstance(reply.body, JsonBody) else None
    spoilt = dialect.spoil(body)
    if spoilt is body:
        raise UnspoilableError("the model's answer calls no tool, so there are no arguments to break")
    return streamed(replace(reply, body=JsonBody(spoilt), frames=None), dialect, request)
