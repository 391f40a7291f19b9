"""Texts changed wherever they stand in a value, body or reply; what does not change stays the same object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from flowproof_addons.trace import layout, stitch
from flowproof_addons.trace.model import Body, BytesBody, JsonBody, JsonValue, MultipartBody, Part, Reply
from flowproof_addons.trace.stitch import Edits

NO_KEYS: frozenset[str] = frozenset()


def text(value: str, edits: Edits) -> str:
    """The text after its edits."""
    found = edits(value)
    return stitch.apply(value, found) if found else value


def data(value: bytes, edits: Edits) -> bytes:
    """The bytes after the edits of their text; what is not UTF-8 in them stays."""
    decoded = value.decode("utf-8", "surrogateescape")
    found = edits(decoded)
    return stitch.apply(decoded, found).encode("utf-8", "surrogateescape") if found else value


def value(old: JsonValue, edits: Edits, hidden: frozenset[str] = NO_KEYS) -> JsonValue:
    """The value with every text in it edited, keys included, but for what is opaque (`stitch.is_opaque`).

    `hidden` names members, in lower case, whose value becomes `${REDACTED:name}`.
    """
    if isinstance(old, str):
        return text(old, edits)
    if isinstance(old, dict):
        return _object(old, edits, hidden)
    if isinstance(old, list):
        items = [value(item, edits, hidden) for item in old]
        return items if any(new is not was for new, was in zip(items, old, strict=True)) else old
    return old


def body(old: Body, edits: Edits, hidden: frozenset[str] = NO_KEYS) -> Body:
    """The body with every text in it edited; a JSON body keeps its layout where that has a name."""
    match old:
        case JsonBody(document, source):
            new = value(document, edits, hidden)
            if new is document:
                return old
            known = layout.name(document, source) if source is not None else None
            return JsonBody(new, layout.write(new, known) if known else None)
        case MultipartBody(parts):
            return MultipartBody(tuple(_part(part, edits, hidden) for part in parts))
        case BytesBody(content):
            new_content = data(content, edits)
            return old if new_content is content else BytesBody(new_content)


def reply(old: Reply, edits: Edits, hidden: frozenset[str] = NO_KEYS) -> Reply:
    """The reply with every text in it edited: body, headers, and frames, where a text may have arrived in pieces."""
    new = replace(
        old,
        body=body(old.body, edits, hidden),
        headers=headers(old.headers, edits),
        frames=None if old.frames is None else stitch.rewrite(old.frames, edits),
    )
    return old if new == old else new


def headers(old: Mapping[str, str], edits: Edits) -> Mapping[str, str]:
    """The headers with every value edited."""
    return {name: text(content, edits) for name, content in old.items()}


def redacted(name: str) -> str:
    """What is written in the place of a value that nobody may know."""
    return "${REDACTED:" + name + "}"


def _object(old: dict[str, JsonValue], edits: Edits, hidden: frozenset[str]) -> dict[str, JsonValue]:
    members: dict[str, JsonValue] = {}
    changed = False
    for key, was in old.items():
        new: JsonValue
        if key.lower() in hidden and was is not None:
            new = redacted(key)
        else:
            new = was if stitch.is_opaque(key, old) else value(was, edits, hidden)
        name = text(key, edits)
        changed = changed or new is not was or name != key
        members[name] = new
    return members if changed else old


def _part(part: Part, edits: Edits, hidden: frozenset[str]) -> Part:
    named = re.search(r'\bname="([^"]*)"', dict(part.headers).get("content-disposition", ""))
    if named and named[1].lower() in hidden:
        return Part(part.headers, redacted(named[1]).encode())
    return Part(tuple((name, text(content, edits)) for name, content in part.headers), data(part.data, edits))
