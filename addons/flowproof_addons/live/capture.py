"""What the upstream sent, as a `Reply`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flowproof_addons.dialects import framing
from flowproof_addons.dialects.base import Dialect, StreamEvent
from flowproof_addons.dialects.framing import Framing
from flowproof_addons.trace import body
from flowproof_addons.trace.model import Body, BytesBody, JsonBody, Reply

_FRAMED: dict[str, Framing] = {
    "text/event-stream": framing.of("sse"),
    "application/x-ndjson": framing.of("ndjson"),
    "application/jsonl": framing.of("ndjson"),
}
_BINARY_STREAM = "application/vnd.amazon.eventstream"
_FINAL_EVENTS = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed", "error"})


def media_type(headers: Iterable[tuple[str, str]]) -> str:
    """The content type without parameters, lower case."""
    value = next((v for k, v in headers if k.lower() == "content-type"), "")
    return value.partition(";")[0].strip().lower()


def streams(kind: str) -> bool:
    """True for a media type that is relayed and kept frame by frame."""
    return kind in _FRAMED or kind == _BINARY_STREAM


def reply(status: int, headers: list[tuple[str, str]], data: bytes, dialect: Dialect | None, *, cut: bool) -> Reply:
    """One upstream answer. `data` is the wire's body; `cut` says it ended before its end.

    Raises EncodingError if the body's Content-Encoding cannot be undone.
    """
    named = dict(headers)
    kind = media_type(headers)
    if not streams(kind):
        return replace(body.reply(status, named, data), cut=cut)
    plain = body.decode(data, next((v for k, v in headers if k.lower() == "content-encoding"), ""))
    kept = body.reply_headers(named)
    if kind == _BINARY_STREAM:
        return Reply(status, BytesBody(b""), kept, (plain,), cut)
    frames = _FRAMED[kind].split(plain)
    return Reply(status, _assembled(frames, dialect), kept, frames, cut)


def finished(data: bytes, kind: str) -> bool:
    """True when the last frame of a stream says it is over: a client may hang up then without having cut anything."""
    if kind not in _FRAMED:
        return False
    cutter = _FRAMED[kind]
    return any(_final(event) for event in cutter.events(cutter.split(data)[-3:]))


def _final(event: StreamEvent) -> bool:
    if event.data.strip() == "[DONE]" or event.event in _FINAL_EVENTS:
        return True
    data = event.data.replace(" ", "")
    return '"done":true' in data or '"finishReason":"' in data  # Ollama, Gemini: the last chunk says so itself


def _assembled(frames: tuple[bytes, ...], dialect: Dialect | None) -> Body:
    if dialect is None:
        return BytesBody(b"")
    value = dialect.assemble(framing.of(dialect.framing).events(frames))
    return BytesBody(b"") if value is None else JsonBody(value)
