"""Values as people read them: YAML's look, with long text as text. Not meant to be parsed again."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonValue

_STEP = "  "
_PLAIN = re.compile(r"[A-Za-z_/$][^\n#]*[^\s:#]|[A-Za-z_$]")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})


def outline(value: JsonValue, indent: int = 0) -> Iterator[str]:
    """The lines of a value that stands on lines of its own."""
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield from _member(f"{_key(key)}:", inner, indent)
        case list() if value:
            for inner in value:
                yield from _item(inner, indent)
        case str() if "\n" in value:
            yield from text(value, indent)
        case _:
            yield _STEP * indent + scalar(value)


def entry(name: str, value: JsonValue, indent: int = 0, remark: str = "") -> Iterator[str]:
    """The lines of a value under its name; `remark` stands behind the name as a comment."""
    yield from _member(f"{_key(name)}:", value, indent, f"  # {_one_line(remark)}" if remark else "")


def text(value: str, indent: int = 0) -> Iterator[str]:
    """The lines of a text, moved in."""
    for line in value.rstrip("\n").split("\n"):
        yield (_STEP * indent + line).rstrip()


def scalar(value: JsonValue) -> str:
    """A value on one line."""
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and ": " not in value and value.lower() not in _WORDS
        return value if plain else json_value.string(value)
    return json_value.compact(value)


def _member(head: str, inner: JsonValue, indent: int, remark: str = "") -> Iterator[str]:
    lead = _STEP * indent + head
    if isinstance(inner, str) and "\n" in inner:
        yield f"{lead} |{remark}"
        yield from text(inner, indent + 1)
    elif isinstance(inner, dict | list) and inner:
        yield lead + remark
        yield from outline(inner, indent + 1)
    else:
        yield f"{lead} {scalar(inner)}{remark}"


def _item(inner: JsonValue, indent: int) -> Iterator[str]:
    lead = _STEP * indent + "- "
    if isinstance(inner, dict | list) and inner:
        first, *rest = outline(inner, indent + 1)
        yield lead + first.lstrip(" ")
        yield from rest
    elif isinstance(inner, str) and "\n" in inner:
        yield f"{lead}|"
        yield from text(inner, indent + 1)
    else:
        yield lead + scalar(inner)


def _key(name: str) -> str:
    return scalar(name)


def _one_line(remark: str) -> str:
    return " ".join(remark.split())
