"""Large base64 texts (images, audio, binary bodies), stored once by digest in a folder beside the trace.

An entry names them apart from its values, with an empty text left where the large one stood:
`"blobs": {"/request/json/...": {"sha256": "...", "before": "data:image/png;base64,"}}`.
The file itself holds the decoded bytes, so that it can be looked at.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator

from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import Path, pointer, put, split
from flowproof_addons.trace.shape import Node

SMALLEST = 64 * 1024
"""Texts up to this many characters stay in the trace."""

_HEAD = re.compile(r"(?:data:[^,]{0,200};base64,)?")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def take_out(entry: dict[str, JsonValue], store: Callable[[str, bytes], None]) -> dict[str, JsonValue]:
    """The entry without its large base64 texts, each given to `store` with its digest."""
    found = {path: blob for path, text in _large(entry, ()) if (blob := _blob(text)) is not None}
    if not found:
        return entry
    out: JsonValue = entry
    names: dict[str, JsonValue] = {}
    for path, (before, data) in found.items():
        name = digest(data)
        store(name, data)
        out = put(out, path, "")
        names[pointer(path)] = {"sha256": name, **({"before": before} if before else {})}
    assert isinstance(out, dict)
    return {**out, "blobs": names}


def put_back(node: Node, fetch: Callable[[Node], bytes]) -> Node:
    """The entry with its large texts in place again. `fetch` gets the node that names the digest. Raises ShapeError."""
    if not node.has("blobs"):
        return node
    blobs = node.get("blobs")
    assert isinstance(node.value, dict)
    out: JsonValue = {key: value for key, value in node.value.items() if key != "blobs"}
    for where, blob in blobs.members().items():
        name = blob.get("sha256")
        if not is_digest(name.text()):
            raise name.wrong("must be a SHA-256 digest in lower-case hex")
        before = blob.get("before").text() if blob.has("before") else ""
        text = before + base64.b64encode(fetch(name)).decode()
        try:
            out = put(out, split(where), text)
        except (LookupError, ValueError) as error:
            raise blob.wrong(f"names a place that is not there: {error}") from error
    return Node(out, node.path)


def digest(data: bytes) -> str:
    """The name of a blob."""
    return hashlib.sha256(data).hexdigest()


def is_digest(name: str) -> bool:
    """True for a name that `digest` could have given."""
    return _DIGEST.fullmatch(name) is not None


def _large(value: JsonValue, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        if len(value) > SMALLEST:
            yield path, value
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _large(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _large(child, (*path, index))


def _blob(text: str) -> tuple[str, bytes] | None:
    """What stands before the base64 and its bytes, or None where writing the bytes again would give another text."""
    head = _HEAD.match(text)
    before = head[0] if head else ""
    encoded = text[len(before) :]
    if len(encoded) % 4 or not _BASE64.fullmatch(encoded):
        return None
    data = base64.b64decode(encoded)
    return (before, data) if base64.b64encode(data).decode() == encoded else None
