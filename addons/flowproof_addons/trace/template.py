"""A frame with holes: how the frames of a run are written and recognised without reading them as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from flowproof_addons.trace.frame import Frame
from flowproof_addons.trace.json_value import JsonError, parse, scalar
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import Path, put

_LEAF = r'("(?:[^"\\]|\\.)*+"|-?[0-9][0-9.eE+-]*+|true|false|null)'


class TemplateError(ValueError):
    """What is to fill a hole is no text, number, true, false or null."""


@dataclass(frozen=True, slots=True)
class Template:
    """The text of a frame between the leaves that vary."""

    frame: Frame
    pieces: tuple[str, ...]
    order: tuple[int, ...]
    """Which leaf fills each hole, in the order of the text."""
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, first: Frame, places: Sequence[Path]) -> Template | None:
        """The template of a frame whose leaves at `places` vary; None when these cannot be told from the rest."""
        payload = first.payload
        marks = [f"\x01{index}\x01" for index in range(len(places))]
        for path, mark in zip(places, marks, strict=True):
            payload = put(payload, path, mark)
        text = replace(first, payload=payload, pad=0).text()
        quoted = [scalar(mark) for mark in marks]
        if any(text.count(mark) != 1 for mark in quoted):
            return None
        order = sorted(range(len(marks)), key=lambda index: text.index(quoted[index]))
        pieces: list[str] = []
        for index in order:
            before, text = text.split(quoted[index])
            pieces.append(before)
        pieces.append(text)
        return cls(first, tuple(pieces), tuple(order), _pattern(first, pieces))

    def render(self, leaves: Sequence[JsonValue], pad: int) -> bytes:
        """The frame with its holes filled. Raises TemplateError."""
        ascii_only = "ascii" in self.frame.style
        out = self.pieces[0]
        for hole, index in enumerate(self.order, 1):
            leaf = leaves[index]
            if isinstance(leaf, dict | list):
                raise TemplateError("what a run of frames varies must be text, a number, true, false or null")
            out += scalar(leaf, ascii_only) + self.pieces[hole]
        return self.frame.wrap(out[:-1] + " " * pad + out[-1:]).encode()

    def read(self, raw: bytes) -> tuple[list[JsonValue], int] | None:
        """The leaves and the padding of a frame that this template would write just so; else None."""
        try:
            found = self.pattern.fullmatch(raw.decode())
            if found is None:
                return None
            leaves: list[JsonValue] = [None] * len(self.order)
            for hole, index in enumerate(self.order, 1):
                leaves[index] = parse(found[hole])
        except (UnicodeDecodeError, JsonError):
            return None
        pad = len(found["pad"])
        return (leaves, pad) if self.render(leaves, pad) == raw else None


def _pattern(frame: Frame, pieces: Sequence[str]) -> re.Pattern[str]:
    head, _, tail = frame.wrap("\x01").partition("\x01")
    last, end = pieces[-1][:-1], pieces[-1][-1:]
    between = [re.escape(piece) + _LEAF for piece in pieces[:-1]]
    return re.compile(re.escape(head) + "".join(between) + re.escape(last) + f"(?P<pad> *){re.escape(end + tail)}")
