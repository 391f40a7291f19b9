"""A long text cut to what matters: the difference and a little of what stands around it, on one line."""

from __future__ import annotations

from dataclasses import dataclass

from flowproof_addons.matching.rules import unmarked

BEFORE, INSIDE, AFTER = 40, 60, 20
"""Characters shown before, of, and after a difference."""

_ESCAPES = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One line of a text, with the part that differs marked."""

    text: str
    start: int = 0
    end: int = 0
    """The part that differs is `text[start:end]`; nothing is marked when the two are equal."""


def around(text: str, start: int, end: int) -> Excerpt:
    """The text around `text[start:end]`."""
    head = text[max(0, start - BEFORE) : start]
    inside = text[start:end]
    if len(inside) > INSIDE:
        inside = inside[: INSIDE // 2] + " … " + inside[-INSIDE // 2 :]
    tail = text[end : end + AFTER]
    before = ("…" if start > BEFORE else "") + _line(head)
    marked = _line(inside)
    after = _line(tail) + ("…" if end + AFTER < len(text) else "")
    return Excerpt(before + marked + after, len(before), len(before) + len(marked))


def whole(text: str) -> Excerpt:
    """The beginning of a text, nothing marked."""
    shown = _line(text[: BEFORE + INSIDE])
    return Excerpt(shown + ("…" if len(text) > BEFORE + INSIDE else ""))


def _line(text: str) -> str:
    shown = unmarked(text).translate(_ESCAPES)
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in shown)
