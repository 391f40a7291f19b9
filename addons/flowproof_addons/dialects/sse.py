"""Server-sent events: cut a stream into frames without losing a byte, read a frame, write a frame.

https://html.spec.whatwg.org/multipage/server-sent-events.html (section 9.2.5 and 9.2.6, read 2026-12-02).
"""

from __future__ import annotations

import re

from flowproof_addons.dialects.base import StreamEvent

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_EMPTY = (b"\n", b"\r\n", b"\r")


def split(stream: bytes) -> tuple[bytes, ...]:
    r"""Cut a whole stream into frames, each with the empty line that ends it: `b"".join(split(s)) == s`.

    Comments (keep-alives) are frames like any other; what follows the last empty line is a last, unfinished frame.
    """
    frames: list[bytes] = []
    start = 0
    for line in _LINE.finditer(stream):
        if line.group() in _EMPTY:
            frames.append(stream[start : line.end()])
            start = line.end()
    if start < len(stream):
        frames.append(stream[start:])
    return tuple(frames)


def parse(frame: bytes) -> StreamEvent | None:
    """The event in one frame; None where the frame has no data (a comment, a lone `retry:`)."""
    data: list[str] = []
    name: str | None = None
    for line in _LINE_END.split(frame.decode("utf-8", "replace").removeprefix("\ufeff")):
        field, _, value = line.partition(":")
        match field:
            case "data":
                data.append(value.removeprefix(" "))
            case "event":
                name = value.removeprefix(" ")
            case _:
                pass  # comments, id, retry and fields nobody knows carry no part of a reply
    return StreamEvent("\n".join(data), name) if data else None


def render(event: StreamEvent) -> bytes:
    """One frame that says the event; `parse(render(e)) == e` for data whose line ends are LF."""
    lines = [] if event.event is None else [f"event: {event.event}"]
    lines += [f"data: {line}" for line in _LINE_END.split(event.data)]
    return ("\n".join(lines) + "\n\n").encode()
