"""What counts when two requests are compared, as one digest: equal digests, equal requests.

Compared: dialect, method, path, query, the whole body. A JSON body is compared as a value: key order, white space and
escapes do not count; number literals, the order of lists, absent, null and empty, and every character of a text do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from flowproof_addons.dialects.base import Dialect
from flowproof_addons.trace.json_value import compact, fingerprint
from flowproof_addons.trace.model import Body, BytesBody, JsonBody, JsonValue, MultipartBody, Request
from flowproof_addons.trace.pointer import Path, get, put

NOT_COMPARED = ("stream", "stream_options")
"""Members of a turn's body that only say how the reply travels."""

_MOST_AGAIN = 32 * 1024 * 1024

POSITIONAL = "cache_control"
"""Belongs to the place in a set of items, not to the item: clients put it on whatever comes last."""


def key(request: Request, dialect: Dialect | None = None) -> bytes:
    """The digest of everything that is compared, without any rule."""
    return Digester().request(request, dialect.name if dialect else None, compared(request.body, dialect is not None))


def compared(body: Body, is_turn: bool) -> Body:
    """The body without the members that are not compared."""
    if not is_turn or not isinstance(body, JsonBody) or not isinstance(body.value, dict):
        return body
    if not any(name in body.value for name in NOT_COMPARED):
        return body
    return JsonBody({name: member for name, member in body.value.items() if name not in NOT_COMPARED})


def arranged(value: JsonValue, by: JsonValue, groups: Iterable[Sequence[Path]]) -> JsonValue:
    """The value with each group's items in the one order that does not depend on how they came.

    `by` is the value by which items are put in order, of the same build (the marked value, where pins apply).
    """
    for group in groups:
        try:
            items, marks = [get(value, path) for path in group], [get(by, path) for path in group]
        except LookupError:
            continue  # a pin has taken the whole list
        keys = [compact(_loose(mark), sort_keys=True) for mark in marks]
        for place, index in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
            value = put(value, group[place], _placed(items[index], at=items[place]))
            by = put(by, group[place], _placed(marks[index], at=marks[place]))
    return value


class Digester:
    """Makes digests; what lists share, or hold again, is digested once."""

    def __init__(self, lasting: bool = False) -> None:
        self._lasting: dict[int, tuple[JsonValue, bytes]] | None = {} if lasting else None
        """By identity, for values that live as long as this object."""
        self._again: dict[bytes, bytes] = {}
        self._again_size = 0
        """By content, for others: a conversation is sent again with every turn."""

    def request(self, request: Request, dialect: str | None, body: Body) -> bytes:
        """The digest of a request with `body` in the place of its own."""
        head: list[JsonValue] = [dialect, request.method, request.path, request.query]
        return _hash(compact(head).encode(), self.body(body))

    def body(self, body: Body) -> bytes:
        """The digest of a body."""
        match body:
            case JsonBody(value):
                return self.value(value)
            case MultipartBody(parts):
                return _hash(
                    b"multipart",
                    *(_hash(compact([list(pair) for pair in part.headers]).encode(), part.data) for part in parts),
                )
            case BytesBody(data):
                return _hash(b"bytes", data)

    def value(self, value: JsonValue) -> bytes:
        """The digest of a JSON value: a tree over its members and the items of their lists."""
        if not isinstance(value, dict):
            return _hash(b"json", _leaf(value))
        members: list[bytes] = []
        for name in sorted(value):
            members.append(compact(name).encode())
            members.append(self.member(value[name]))
        return _hash(b"object", *members)

    def member(self, value: JsonValue) -> bytes:
        """The digest of a member of a body."""
        if not isinstance(value, list):
            return _hash(b"json", _leaf(value))
        return _hash(b"list", *map(self.item, value))

    def item(self, value: JsonValue) -> bytes:
        """The digest of an item of such a list."""
        if self._lasting is None:
            return self._by_content(value)
        known = self._lasting.get(id(value))
        if known is None:
            known = self._lasting[id(value)] = (value, _hash(_leaf(value)))
        return known[1]

    def _by_content(self, value: JsonValue) -> bytes:
        content = fingerprint(value)
        if content is None:
            return _hash(_leaf(value))
        known = self._again.get(content)
        if known is None:
            self._again_size += len(content)
            if self._again_size > _MOST_AGAIN:
                self._again, self._again_size = {}, len(content)
            known = self._again[content] = _hash(_leaf(value))
        return known


def _leaf(value: JsonValue) -> bytes:
    return compact(value, sort_keys=True, ascii_only=True).encode()


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.digest()


def _loose(item: JsonValue) -> JsonValue:
    if isinstance(item, dict) and POSITIONAL in item:
        return {name: member for name, member in item.items() if name != POSITIONAL}
    return item


def _placed(item: JsonValue, at: JsonValue) -> JsonValue:
    """The item as it stands at the place of another: with that place's `cache_control`."""
    loose = _loose(item)
    if isinstance(loose, dict) and isinstance(at, dict) and POSITIONAL in at:
        return {**loose, POSITIONAL: at[POSITIONAL]}
    return loose
