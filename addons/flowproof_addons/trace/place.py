"""The line of a value in JSON text, so that an error can say `file:line`. Only used once something is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from flowproof_addons.trace.pointer import Path

_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


def line_of(text: str, path: Path) -> int:
    """The line, from 1, on which the value at `path` begins, or as much of the path as is there.

    `text` must be JSON that parses.
    """
    offset = _skip(text, 0)
    for step in path:
        below = next((start for key, start in _children(text, offset) if key == step), None)
        if below is None:
            break
        offset = below
    return text.count("\n", 0, offset) + 1


def _children(text: str, offset: int) -> Iterator[tuple[str | int, int]]:
    """Key or index and offset of everything directly in the container that begins at `offset`."""
    if text[offset] not in "{[":
        return
    is_object, index = text[offset] == "{", 0
    offset = _skip(text, offset + 1)
    while text[offset] not in "}]":
        key: str | int = index
        if is_object:
            key, offset = _DECODER.raw_decode(text, offset)
            offset = _skip(text, _skip(text, offset) + 1)
        yield key, offset
        _, offset = _DECODER.raw_decode(text, offset)
        offset = _skip(text, offset)
        if text[offset] == ",":
            offset = _skip(text, offset + 1)
        index += 1


def _skip(text: str, offset: int) -> int:
    found = _SPACE.match(text, offset)
    return found.end() if found else offset
