"""What the upstream sent, as a `Reply`."""

from __future__ import annotations

from collections.abc import Iterable

from flowproof_addons.dialects import framing
from flowproof_addons.dialects.base import Dialect, StreamEvent
from flowproof_addons.dialects.framing import Framing
from flowproof_addons.trace import credentials
from flowproof_addons.trace.body import decode, read
from flowproof_addons.trace.model import Body, BytesBody, JsonBody, Reply

_FRAMED: dict[str, Framing] = {
    "text/event-stream": framing.of("sse"),
    "application/x-ndjson": framing.of("ndjson"),
    "application/jsonl": framing.of("ndjson"),
}
_BINARY_STREAM = "application/vnd.amazon.eventstream"
_TRANSPORT = frozenset(
    "connection keep-alive proxy-connection te trailer transfer-encoding upgrade content-length content-encoding"
    " date".split()
)
_FINAL_EVENTS = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed", "error"})


def media_type(headers: Iterable[tuple[str, str]]) -> str:
    """The content type without parameters, lower case."""
    value = next((v for k, v in headers if k.lower() == "content-type"), "")
    return value.partition(";")[0].strip().lower()


def streams(kind: str) -> bool:
    """True for a media type that is relayed and kept frame by frame."""
    return kind in _FRAMED or kind == _BINARY_STREAM


def reply(status: int, headers: list[tuple[str, str]], data: bytes, dialect: Dialect | None, *, cut: bool) -> Reply:
    """One upstream answer. `data` is the wire's body; `cut` says it ended before its end."""
    encoding = next((v for k, v in headers if k.lower() == "content-encoding"), "")
    plain = decode(data, encoding)
    kind = media_type(headers)
    kept = kept_headers(headers)
    if kind == _BINARY_STREAM:
        return Reply(status, BytesBody(b""), kept, (plain,), cut)
    if kind not in _FRAMED:
        return Reply(status, read(plain, kind), kept, None, cut)
    frames = _FRAMED[kind].split(plain)
    return Reply(status, _assembled(frames, dialect), kept, frames, cut)


def kept_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Everything but transport and credentials; lower-case names, the last of a repeated one."""
    lowered = ((name.lower(), value) for name, value in headers)
    return {n: v for n, v in lowered if n not in _TRANSPORT and not credentials.is_credential(n)}


def finished(data: bytes, kind: str) -> bool:
    """True when the last frame of a stream says it is over: a client may hang up then without having cut anything."""
    if kind not in _FRAMED:
        return False
    cutter = _FRAMED[kind]
    return any(_final(event) for event in cutter.events(cutter.split(data)[-3:]))


def _final(event: StreamEvent) -> bool:
    return (
        event.data.strip() == "[DONE]" or event.event in _FINAL_EVENTS or '"done":true' in event.data.replace(" ", "")
    )


def _assembled(frames: tuple[bytes, ...], dialect: Dialect | None) -> Body:
    if dialect is None:
        return BytesBody(b"")
    value = dialect.assemble(framing.of(dialect.framing).events(frames))
    return BytesBody(b"") if value is None else JsonBody(value)
