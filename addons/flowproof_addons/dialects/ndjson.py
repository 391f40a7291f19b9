"""Newline-delimited JSON: one document a line, no event names."""

from __future__ import annotations

from flowproof_addons.dialects.base import StreamEvent


def split(stream: bytes) -> tuple[bytes, ...]:
    r"""Cut a whole stream into lines, each with its line feed: `b"".join(split(s)) == s`."""
    lines = stream.split(b"\n")
    frames = [line + b"\n" for line in lines[:-1]]
    return tuple([*frames, lines[-1]] if lines[-1] else frames)


def parse(frame: bytes) -> StreamEvent | None:
    """The event on one line; None where the line is blank."""
    data = frame.decode("utf-8", "replace").strip()
    return StreamEvent(data) if data else None


def render(event: StreamEvent) -> bytes:
    """One line that says the event; its data must hold no line feed (JSON never needs one)."""
    return event.data.encode() + b"\n"
