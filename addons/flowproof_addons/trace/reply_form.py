"""A reply as it stands in an entry: what repeats the reply of the entry it continues is left out.

So is what its frames repeat of the earlier frames: these are stored as `{"patch": [...]}` where that is shorter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flowproof_addons.trace import body_form, delta, frames, header_form
from flowproof_addons.trace.json_value import compact, size
from flowproof_addons.trace.model import Attempt, Body, JsonBody, JsonValue, Reply
from flowproof_addons.trace.pretty import Lines
from flowproof_addons.trace.shape import Node


@dataclass(frozen=True, slots=True)
class Kept:
    """A reply and its frames in their stored form, which the next one may continue."""

    reply: Reply
    frames: JsonValue
    """None where it was not streamed."""


def write(reply: Reply, base: Kept | None) -> tuple[JsonValue, Kept]:
    """The stored form of a reply, and what a later one can continue."""
    entry: dict[str, JsonValue] = {"status": reply.status}
    if headers := header_form.write(reply.headers, base.reply.headers if base else {}):
        entry["headers"] = headers
    entry["body"] = body_form.write(reply.body)
    packed = None if reply.frames is None else frames.pack(reply.frames, _json(reply.body))
    if packed is not None:
        entry["frames"] = _shorter(packed, base.frames if base else None)
    if reply.cut:
        entry["cut"] = True
    return entry, Kept(reply, packed)


def read(node: Node, base: Kept | None) -> Kept:
    """The reply of a stored form. Raises ShapeError."""
    body = body_form.read(node.get("body"))
    packed = _packed(node.get("frames"), base) if node.has("frames") else None
    try:
        unpacked = None if packed is None else frames.unpack(packed, _json(body))
    except frames.FramesError as error:
        raise node.get("frames").wrong(str(error)) from error
    headers = node.get("headers") if node.has("headers") else None
    reply = Reply(
        status=_status(node.get("status")),
        body=body,
        headers=header_form.read(headers, base.reply.headers if base else {}),
        frames=unpacked,
        cut=node.get("cut").truth() if node.has("cut") else False,
    )
    return Kept(reply, packed)


def write_attempt(attempt: Attempt) -> JsonValue:
    """The stored form of an answer that its client tried again after."""
    headers: Mapping[str, JsonValue] = header_form.write(attempt.headers, {})
    told: dict[str, JsonValue] = {"headers": dict(headers)} if headers else {}
    return {"status": attempt.status, **told, "body": body_form.write(attempt.body)}


def read_attempt(node: Node) -> Attempt:
    """The answer of a stored form. Raises ShapeError."""
    return Attempt(
        status=_status(node.get("status")),
        headers=header_form.read(node.get("headers") if node.has("headers") else None, {}),
        body=body_form.read(node.get("body")),
    )


def _shorter(packed: JsonValue, earlier: JsonValue) -> JsonValue:
    """The frames, or how they differ from earlier ones. Order of keys counts here, which a patch does not know."""
    if earlier is None:
        return packed
    patch = delta.difference(earlier, packed)
    if size(patch) < size(packed) and compact(delta.apply(earlier, patch)) == compact(packed):
        return {"patch": Lines(patch)}
    return packed


def _packed(node: Node, base: Kept | None) -> JsonValue:
    if not node.has("patch"):
        return node.value
    if base is None or base.frames is None:
        raise node.wrong("there are no earlier frames to patch")
    try:
        return delta.apply(base.frames, node.get("patch").value)
    except delta.PatchError as error:
        raise node.get("patch").wrong(str(error)) from error


def _json(body: Body) -> JsonValue:
    return body.value if isinstance(body, JsonBody) else None


def _status(node: Node) -> int:
    status = node.integer()
    if status and not 100 <= status <= 999:  # 0: it was never answered
        raise node.wrong(f"{status} is no HTTP status")
    return status
