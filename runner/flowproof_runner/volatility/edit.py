"""Pins put into a spec's text, every other character of it kept. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flowproof_addons import FlowproofError

_PINS = re.compile(r"pins:[ \t]*(#.*)?")
_ITEM = re.compile(r"( *)- ")


class EditError(FlowproofError):
    """The spec is written in a way that pins cannot be put into."""


def with_pins(text: str, pins: Sequence[Sequence[str]]) -> str:
    """The text with these pins, each the lines of one list item; before those that are there, else before `steps:`.

    Raises EditError if `pins:` is not a block list.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines()
    at = next((number for number, line in enumerate(lines) if line.startswith(("pins:", '"pins"', "'pins'"))), None)
    if at is None:
        at = next((number for number, line in enumerate(lines) if line.startswith("steps:")), len(lines))
        new = ["pins:", *_items(pins, "  ")]
    elif _PINS.fullmatch(lines[at]):
        at += 1
        new = _items(pins, _indent(lines[at:]))
    else:
        raise EditError(f"line {at + 1}: `pins:` is not a list of lines that begin with `- `; put the pins in by hand")
    return end.join((*lines[:at], *new, *lines[at:])) + end


def _items(pins: Sequence[Sequence[str]], indent: str) -> list[str]:
    return [indent + line[2:] for pin in pins for line in pin]


def _indent(lines: Sequence[str]) -> str:
    found = next((item for item in map(_ITEM.match, lines) if item), None)
    return found[1] if found else "  "
