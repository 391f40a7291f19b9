"""JSON laid out for review: what fits on a line stays on a line, the rest is one member a line."""

from __future__ import annotations

import re

from flowproof_addons.trace.json_value import compact, scalar, string
from flowproof_addons.trace.model import JsonValue

WIDTH = 120
"""Longest line that still holds a whole list or object."""


class Lines(list[JsonValue]):
    """A list that nobody reviews item by item: each takes one line, however long."""


def pretty(value: JsonValue, indent: int = 2) -> str:
    """The value, laid out with `indent` spaces a level; no final newline.

    What a reviewer cannot see (control and format characters, line separators) is escaped.
    """
    return _render(value, "\n", " " * indent)


def _render(value: JsonValue, newline: str, step: str) -> str:
    if isinstance(value, dict):
        inner = newline + step
        members = [f"{_visible(key)}: {_render(child, inner, step)}" for key, child in value.items()]
        return _wrap("{", members, "}", newline, step)
    if isinstance(value, Lines):
        return _wrap("[", [_escaped(compact(item)) for item in value], "]", newline, step)
    if isinstance(value, list):
        inner = newline + step
        return _wrap("[", [_render(item, inner, step) for item in value], "]", newline, step)
    return _visible(value) if isinstance(value, str) else scalar(value)


def _wrap(opening: str, members: list[str], closing: str, newline: str, step: str) -> str:
    if not members:
        return opening + closing
    length = sum(map(len, members)) + 2 * len(members) + len(newline)
    if length <= WIDTH and not any("\n" in member for member in members):
        padding = " " if opening == "{" else ""
        return f"{opening}{padding}{', '.join(members)}{padding}{closing}"
    inner = newline + step
    return f"{opening}{inner}{f',{inner}'.join(members)}{newline}{closing}"


def _visible(text: str) -> str:
    return _escaped(string(text))


def _escaped(quoted: str) -> str:
    return quoted if quoted.isascii() else _HIDDEN.sub(lambda found: _escape(found[0]), quoted)


def _escape(character: str) -> str:
    return string(character, ascii_only=True)[1:-1]


_HIDDEN = re.compile(
    "[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
