"""Texts of a stream that are pieces of the reply itself: stored as where the reply was cut, not once more.

`{"at": "/choices/0/delta/content", "of": "/choices/0/message/content", "from": 3, "lengths": "45(12)3"}`: four texts
of 4, 5, 12 and 3 characters, one after another, from the fourth character of the reply's text. Texts that are
nowhere in the reply (random padding) have a `text` of their own in place of `of` and `from`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import Path, get, pointer, split, texts

_FEWEST = 3
"""Fewer texts than this are as short as saying where they stand."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_LENGTHS = re.compile(r"(?:[0-9]|\([1-9][0-9]{1,8}\))*")
_LENGTH = re.compile(r"[0-9]|\([0-9]+\)")


class CutError(ValueError):
    """The stored cut does not have the shape that is written here, or does not fit the reply."""


class Source:
    """A reply's texts, to be cut."""

    def __init__(self, body: JsonValue) -> None:
        self._body = body
        self._texts: tuple[tuple[Path, str], ...] | None = None

    def cut(self, at: str, pieces: Sequence[JsonValue]) -> dict[str, JsonValue] | None:
        """Where these texts of the leaf `at` stand in the reply, or their own text; None for what is better listed."""
        listed = [piece for piece in pieces if isinstance(piece, str)]
        if len(pieces) < _FEWEST or len(listed) != len(pieces):
            return None
        whole = "".join(listed)
        if _SURROGATE.search(whole):
            return None  # halves of one letter, which would be read back as one
        if self._texts is None:
            self._texts = tuple(texts(self._body))
        for path, text in self._texts:
            start = text.find(whole)
            if start >= 0:
                return {"at": at, "of": pointer(path), "from": start, "lengths": "".join(map(_written, listed))}
        return {"at": at, "text": whole, "lengths": "".join(map(_written, listed))}

    def pieces(self, cut: JsonValue) -> tuple[str, tuple[str, ...]]:
        """The leaf that varies, and its texts. Raises CutError."""
        if not isinstance(cut, dict):
            raise CutError("each of `cuts` must be an object")
        at, start, lengths = cut.get("at"), cut.get("from", 0), cut.get("lengths")
        if not isinstance(at, str) or not isinstance(lengths, str) or not _LENGTHS.fullmatch(lengths):
            raise CutError("a cut needs `at` and `lengths`: digits, and longer numbers in parentheses")
        if type(start) is not int or start < 0:
            raise CutError("`from` of a cut must be a whole number")
        text = cut["text"] if "text" in cut else self._text(cut.get("of"))
        ends = list(accumulate((int(length.strip("()")) for length in _LENGTH.findall(lengths)), initial=start))
        if not isinstance(text, str) or ends[-1] > len(text):
            raise CutError("a cut does not fit the reply: it needs a longer text")
        return at, tuple(text[begin:end] for begin, end in pairwise(ends))

    def _text(self, of: JsonValue) -> JsonValue:
        if not isinstance(of, str):
            raise CutError("a cut needs `text`, or `of` and `from`")
        try:
            return get(self._body, split(of))
        except (ValueError, LookupError) as error:
            raise CutError(f"a cut does not fit the reply: {error}") from error


def _written(piece: str) -> str:
    return str(len(piece)) if len(piece) < 10 else f"({len(piece)})"
