"""Dotted paths into JSON values: `passengers.0.name`, `headers."x.y"`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from flowproof_addons.trace.model import JsonValue


class Missing(Enum):
    """What a lookup gives where there is nothing; null is something."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING

_STOPS = frozenset(' \t\n\r."')


class PathError(ValueError):
    """A path cannot be read. `column` counts from 0 in the text that was parsed."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True, slots=True)
class Path:
    """Steps from a value to one inside it; no steps is the value itself."""

    segments: tuple[str | int, ...] = ()
    """An int was written as a bare number: it indexes an array, and on an object it is the key with those digits."""

    def lookup(self, value: JsonValue) -> JsonValue | Missing:
        """The value found by following the path, else MISSING."""
        here: JsonValue | Missing = value
        for segment in self.segments:
            here = _step(here, segment)
        return here

    def __str__(self) -> str:
        return ".".join(_segment_text(segment) for segment in self.segments)


def parse(text: str) -> Path:
    """Read a whole text as one path.

    Raises PathError if it is not one.
    """
    path, end = scan(text, 0)
    if end != len(text):
        raise PathError("a path holds no blanks; put a segment that has them in double quotes", end)
    return path


def scan(text: str, start: int) -> tuple[Path, int]:
    """Read the path that begins at `start`; gives it and the column after it.

    Raises PathError if there is none.
    """
    segments: list[str | int] = []
    here = start
    while True:
        segment, here = _scan_segment(text, here)
        segments.append(segment)
        if here >= len(text) or text[here] != ".":
            return Path(tuple(segments)), here
        here += 1


def scan_quoted(text: str, start: int) -> tuple[str, int]:
    r"""Read a double-quoted string, whose escapes are `\"` and `\\`; other backslashes stand for themselves.

    Raises PathError if it does not end.
    """
    out: list[str] = []
    here = start + 1
    while here < len(text):
        if text[here] == '"':
            return "".join(out), here + 1
        if text[here] == "\\" and text[here + 1 : here + 2] in ('"', "\\"):
            here += 1
        out.append(text[here])
        here += 1
    raise PathError("the double quote that opens here is never closed", start)


def quote(text: str) -> str:
    """The double-quoted form that `scan_quoted` reads back."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _scan_segment(text: str, start: int) -> tuple[str | int, int]:
    if text[start : start + 1] == '"':
        segment, end = scan_quoted(text, start)
        if end < len(text) and text[end] not in ". \t\n\r":
            raise PathError("expected '.' or a blank after a quoted segment", end)
        return segment, end
    end = start
    while end < len(text) and text[end] not in _STOPS:
        end += 1
    bare = text[start:end]
    if not bare:
        raise PathError("a path segment is missing here", start)
    _refuse_foreign(bare, start)
    if text[end : end + 1] == '"':
        raise PathError("a quote may only stand around a whole segment", end)
    return int(bare) if _is_index(bare) else bare, end


def _refuse_foreign(bare: str, start: int) -> None:
    """Habits from other path languages would silently name a key that is never there."""
    if "[" in bare or "]" in bare:
        raise PathError("an array index is a segment of its own: items.0.name, not items[0].name", start)
    if bare == "*" or bare == "$":
        raise PathError(f"{bare!r} means nothing in a path; put it in double quotes if it is a key", start)
    if bare.startswith("-") and bare[1:].isdecimal():
        raise PathError("an index counts from 0 at the front; put it in double quotes if it is a key", start)


def _is_index(bare: str) -> bool:
    return bare.isascii() and bare.isdecimal() and (bare == "0" or bare[0] != "0") and len(bare) < 10


def _segment_text(segment: str | int) -> str:
    if isinstance(segment, int):
        return str(segment)
    try:
        bare = parse(segment) == Path((segment,))
    except PathError:
        bare = False
    return segment if bare else quote(segment)


def _step(value: JsonValue | Missing, segment: str | int) -> JsonValue | Missing:
    if isinstance(value, dict):
        return value.get(str(segment), MISSING)
    if isinstance(value, list) and isinstance(segment, int):
        return value[segment] if segment < len(value) else MISSING
    return MISSING
