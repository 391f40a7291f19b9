"""Bodies as they stand in a cassette: `{"json": ...}`, `{"text": ...}`, `{"base64": ...}`, `{"multipart": [...]}`."""

from __future__ import annotations

import base64

from flowproof_addons.trace import layout
from flowproof_addons.trace.model import Body, BytesBody, JsonBody, JsonValue, MultipartBody, Part
from flowproof_addons.trace.shape import Node


def write(body: Body) -> dict[str, JsonValue]:
    """The stored form of a body."""
    match body:
        case JsonBody(value, source):
            return {"json": value, **_written(value, source)}
        case MultipartBody(parts):
            return {"multipart": [_part(part) for part in parts]}
        case BytesBody(data):
            return _bytes(data)


def read(node: Node) -> Body:
    """The body a stored form tells. Raises ShapeError."""
    if node.has("json"):
        return JsonBody(node.get("json").value, _source(node))
    if node.has("multipart"):
        return MultipartBody(tuple(_read_part(item) for item in node.get("multipart").items()))
    return BytesBody(_read_bytes(node))


def _written(value: JsonValue, source: str | None) -> dict[str, JsonValue]:
    if source is None:
        return {}
    known = layout.name(value, source)
    return {"source": source} if known is None else {"layout": known}


def _source(node: Node) -> str | None:
    if node.has("source"):
        return node.get("source").text()
    if not node.has("layout"):
        return None
    known = node.get("layout")
    if known.text() not in layout.NAMES:
        raise known.wrong(f"unknown layout {known.value!r}; known are {', '.join(layout.NAMES)}")
    return layout.write(node.get("json").value, known.text())


def _part(part: Part) -> JsonValue:
    return {"headers": [[name, value] for name, value in part.headers], **_bytes(part.data)}


def _read_part(node: Node) -> Part:
    headers: list[tuple[str, str]] = []
    for pair in node.get("headers").items():
        match [item.text() for item in pair.items()]:
            case [name, value]:
                headers.append((name, value))
            case _:
                raise pair.wrong("must be a name and a value")
    return Part(tuple(headers), _read_bytes(node))


def _bytes(data: bytes) -> dict[str, JsonValue]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
    return {"base64": base64.b64encode(data).decode()} if "\0" in text else {"text": text}


def _read_bytes(node: Node) -> bytes:
    if node.has("text"):
        text = node.get("text")
        try:
            return text.text().encode()
        except UnicodeEncodeError as error:
            raise text.wrong("holds half a surrogate pair; bytes that are not UTF-8 are written as `base64`") from error
    if node.has("base64"):
        encoded = node.get("base64")
        try:
            return base64.b64decode(encoded.text(), validate=True)
        except ValueError as error:
            raise encoded.wrong(f"is not base64: {error}") from error
    raise node.wrong("a body needs `json`, `multipart`, `text` or `base64`")
