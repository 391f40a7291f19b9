"""The ways JSON is commonly laid out, so that a reply is served as its upstream wrote it without storing it twice."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_addons.trace.json_value import compact, scalar, string
from flowproof_addons.trace.model import JsonValue

_ONE_LINE = ("compact", "spaced", "ascii", "spaced ascii")
_INDENTED = tuple(f"indent {width}{ascii}" for width in (2, 4, 1, 3, 8) for ascii in ("", " ascii"))
NAMES = tuple(name + end for name in (*_ONE_LINE, *_INDENTED) for end in ("", " newline"))
"""Every layout that has a name."""


def name(value: JsonValue, source: str) -> str | None:
    """The layout that writes `value` as `source`, or None when no layout does."""
    multi_line = "\n" in source.rstrip("\n")
    for candidate in _INDENTED if multi_line else _ONE_LINE:
        text = write(value, candidate)
        if source == text:
            return candidate
        if source == text + "\n":
            return candidate + " newline"
    return None


def write(value: JsonValue, layout: str) -> str:
    """The value in a layout of `NAMES`."""
    ascii_only = "ascii" in layout
    if layout.startswith("indent"):
        text = "".join(_indented(value, "\n", " " * int(layout.split()[1]), ascii_only))
    else:
        text = compact(value, spaced="spaced" in layout, ascii_only=ascii_only)
    return text + "\n" if layout.endswith("newline") else text


def _indented(value: JsonValue, newline: str, step: str, ascii_only: bool) -> Iterator[str]:
    inner = newline + step
    if isinstance(value, dict) and value:
        between = "{" + inner
        for key, child in value.items():
            yield between + string(key, ascii_only) + ": "
            yield from _indented(child, inner, step, ascii_only)
            between = "," + inner
        yield newline + "}"
    elif isinstance(value, list) and value:
        between = "[" + inner
        for child in value:
            yield between
            yield from _indented(child, inner, step, ascii_only)
            between = "," + inner
        yield newline + "]"
    elif isinstance(value, dict | list):
        yield "{}" if isinstance(value, dict) else "[]"
    else:
        yield scalar(value, ascii_only)
