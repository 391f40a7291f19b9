"""Fold the fragments of a streamed object into the object, and cut text into fragments."""

from __future__ import annotations

import re

from flowproof_addons.trace.model import JsonValue

type Object = dict[str, JsonValue]

IDENTITIES = frozenset({"id", "type", "role", "name", "format"})
"""Strings that some providers repeat in every fragment: a repeat is no continuation."""

_WORD = re.compile(r"\s*\S+|\s+")
_MOST_PIECES = 64


def is_blank(value: JsonValue) -> bool:
    """True for what says nothing: null, "", 0, [], {} (but not false)."""
    return value is not False and not value


def update(target: Object, new: Object) -> None:
    """Take over the fields of `new`; a blank hides nothing but null."""
    for key, value in new.items():
        if target.get(key) is None or not is_blank(value):
            target[key] = value


def merge(target: Object, fragment: Object) -> None:
    """Continue `target` by a fragment: strings and lists grow, objects merge, anything else is replaced."""
    for key, value in fragment.items():
        target[key] = _continued(key, target[key], value) if key in target else _own(value)


def pieces(text: str) -> list[str]:
    """The text in at most 64 pieces, cut between words: joined they are the text."""
    words = _WORD.findall(text)
    size = -(-len(words) // _MOST_PIECES) or 1
    return ["".join(words[start : start + size]) for start in range(0, len(words), size)]


def _continued(key: str, old: JsonValue, new: JsonValue) -> JsonValue:
    match old, new:
        case str(), str():
            return old if key in IDENTITIES and new in ("", old) else old + new
        case dict(), dict():
            merge(old, new)
            return old
        case list(), list():
            return _extended(old, new)
        case _:
            return old if is_blank(new) and old is not None else _own(new)


def _extended(old: list[JsonValue], new: list[JsonValue]) -> list[JsonValue]:
    """Entries with an `index` continue the entry of that index; others are further entries."""
    by_index = {entry["index"]: entry for entry in old if isinstance(entry, dict) and _index(entry) is not None}
    for entry in new:
        known = by_index.get(_index(entry)) if isinstance(entry, dict) else None
        if known is not None and isinstance(entry, dict):
            merge(known, {key: value for key, value in entry.items() if key != "index"})
        else:
            old.append(_own(entry))
    return old


def _index(entry: Object) -> int | None:
    index = entry.get("index")
    return index if isinstance(index, int) else None


def _own(value: JsonValue) -> JsonValue:
    """A copy whose containers may be grown without touching the event they came from."""
    match value:
        case dict():
            return {key: _own(inner) for key, inner in value.items()}
        case list():
            return [_own(inner) for inner in value]
        case _:
            return value
