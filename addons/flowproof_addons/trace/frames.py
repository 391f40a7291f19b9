"""The frames of a stream, stored small and without loss.

A frame is stored as its JSON, and a run of frames that differ from it in a few leaves as a list of just those:
`[{"data": {...}}, {"at": "/choices/0/delta/content", "each": ["Hel", "lo"]}, "data: [DONE]\\n\\n"]`.
Where they are pieces of the reply itself only the cuts are stored (see `cuts`).
What is not JSON, or would be written differently, is stored as its text, or as base64 where it is not UTF-8.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

from flowproof_addons.trace import frame as single
from flowproof_addons.trace.cuts import Source
from flowproof_addons.trace.frame import Frame
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pretty import Lines
from flowproof_addons.trace.runs import Run, RunError


class FramesError(ValueError):
    """The stored frames do not have the shape that `pack` writes."""


def pack(frames: Sequence[bytes], body: JsonValue = None) -> JsonValue:
    """The frames in their stored form beside the reply's JSON; with both `unpack` gives them back byte for byte."""
    packed = Lines()
    reply = Source(body)
    last: Frame | None = None
    run: Run | None = None
    for raw in frames:
        if run is not None and run.take(raw):
            continue
        current = single.read(raw)
        if run is not None:
            packed.append(run.stored(reply))
            last = run.last
        run = Run.begin(last, current) if last is not None and current is not None else None
        if run is None:
            packed.append(_text(raw) if current is None else _whole(current))
            last = current
    if run is not None:
        packed.append(run.stored(reply))
    return packed


def unpack(packed: JsonValue, body: JsonValue = None) -> tuple[bytes, ...]:
    """The frames of a stored form. Raises FramesError when it is not one, or the reply beside it is another."""
    if not isinstance(packed, list):
        raise FramesError("frames must be a list")
    reply = Source(body)
    frames: list[bytes] = []
    last: Frame | None = None
    for item in packed:
        if isinstance(item, dict) and ("each" in item or "cuts" in item):
            if last is None:
                raise FramesError("a run of frames must follow a whole frame")
            try:
                run = Run.read(last, item, reply)
                frames.extend(run.frames())
            except RunError as error:
                raise FramesError(str(error)) from error
            last = run.last
        else:
            last = _frame(item)
            frames.append(_bytes(item) if last is None else last.render())
    return tuple(frames)


def _text(raw: bytes) -> JsonValue:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def _bytes(item: JsonValue) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, dict) and isinstance(text := item.get("base64"), str):
        try:
            return base64.b64decode(text, validate=True)
        except ValueError as error:
            raise FramesError(f"`base64` of a frame: {error}") from error
    raise FramesError(
        "a frame must be text, {data: ...}, {line: ...}, {at: ..., each: [...]}, {cuts: [...]} or {base64: ...}"
    )


def _whole(frame: Frame) -> JsonValue:
    item: dict[str, JsonValue] = {} if frame.event is None else {"event": frame.event}
    if frame.style != "compact":
        item["style"] = frame.style
    if frame.newline != "\n":
        item["newline"] = frame.newline
    if frame.pad:
        item["pad"] = frame.pad
    return {**item, "data" if frame.kind == "sse" else "line": frame.payload}


def _frame(item: JsonValue) -> Frame | None:
    """The frame an item stores as JSON, or None when it stores text or base64."""
    if not isinstance(item, dict) or ("data" in item) == ("line" in item):
        return None
    event, pad = item.get("event"), item.get("pad", 0)
    style = single.STYLES.get(str(item.get("style", "compact")))
    if not isinstance(event, str | None) or not isinstance(pad, int) or style is None:
        raise FramesError("`event` of a frame must be text, `pad` a number, `style` one of " + ", ".join(single.STYLES))
    newline = single.NEWLINES.get(str(item.get("newline", "\n")))
    if newline is None:
        raise FramesError("`newline` of a frame must be LF or CR LF")
    payload = item["data"] if "data" in item else item["line"]
    return Frame(payload, event, "sse" if "data" in item else "line", style, newline, pad)
