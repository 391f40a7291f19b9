"""How a dialect's streams are cut into events, chosen by `Dialect.framing`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from flowproof_addons.dialects import ndjson, sse
from flowproof_addons.dialects.base import StreamEvent


@dataclass(frozen=True, slots=True)
class Framing:
    """The three functions of one framing, and the media type that announces it."""

    content_type: str
    split: Callable[[bytes], tuple[bytes, ...]]
    """Whole stream -> frames; joined they are the stream again."""
    parse: Callable[[bytes], StreamEvent | None]
    """Frame -> event; None for a frame without one."""
    render: Callable[[StreamEvent], bytes]
    """Event -> frame."""

    def events(self, frames: Iterable[bytes]) -> tuple[StreamEvent, ...]:
        """The events in these frames, keep-alives left out: what `Dialect.assemble` takes."""
        return tuple(event for event in map(self.parse, frames) if event is not None)

    def frames(self, events: Iterable[StreamEvent]) -> tuple[bytes, ...]:
        """The frames that say these events: what `Dialect.synthesise` gives, ready for the wire."""
        return tuple(map(self.render, events))


_SSE = Framing("text/event-stream; charset=utf-8", sse.split, sse.parse, sse.render)
_NDJSON = Framing("application/x-ndjson", ndjson.split, ndjson.parse, ndjson.render)


def of(name: Literal["sse", "ndjson"]) -> Framing:
    """The framing a dialect names: `framing.of(dialect.framing)`."""
    return _SSE if name == "sse" else _NDJSON
