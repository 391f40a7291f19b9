"""Characters to words, for the expression grammar."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flowproof_addons.trace.model import JsonValue

_DEEPEST = 60
"""Brackets, calls and negations inside one another: nobody reads more, and the interpreter's stack is not endless."""

_BLANK = re.compile(r"\s*")
_WORD = re.compile(r'[^\s()\[\],="<>!$]+')
_SIGN = re.compile(r"==|!=|<=|>=|[()\[\],=<>$]")


class SyntaxProblem(ValueError):
    """A contract's text cannot be read. `column` counts from 0 in that text."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


@dataclass
class Scanner:
    """A position in a text, with a look at what comes next."""

    text: str
    here: int = 0
    _depth: int = 0

    def skip(self) -> int:
        """Go over blanks; gives the position after them."""
        found = _BLANK.match(self.text, self.here)
        self.here = found.end() if found else self.here
        return self.here

    def word(self) -> str:
        """The word that comes next, empty if something else does. It is not consumed."""
        found = _WORD.match(self.text, self.skip())
        return found.group() if found else ""

    def take_word(self) -> str:
        """Consume and give the next word; empty if there is none."""
        word = self.word()
        self.here += len(word)
        return word

    def sign(self) -> str:
        """The punctuation that comes next, empty if none does. It is not consumed."""
        found = _SIGN.match(self.text, self.skip())
        return found.group() if found else ""

    def take(self, *words: str) -> bool:
        """Consume these words in a row if they come next."""
        before = self.here
        for word in words:
            if self.take_word() != word:
                self.here = before
                return False
        return True

    def take_sign(self, *signs: str) -> str:
        """Consume the next punctuation if it is one of these."""
        sign = self.sign()
        if sign not in signs:
            return ""
        self.here += len(sign)
        return sign

    def glued(self, character: str) -> bool:
        """True when this character follows without a blank."""
        return self.text[self.here : self.here + 1] == character

    def quoted(self) -> str | None:
        """Consume and give a double-quoted text (JSON escapes), None if none comes next."""
        if self.text[self.skip() : self.here + 1] != '"':
            return None
        value = self.json()
        return value if isinstance(value, str) else None

    def json(self) -> JsonValue:
        """Consume and give the JSON value that comes next.

        Raises SyntaxProblem if there is none.
        """
        start = self.skip()
        try:
            value, self.here = json.JSONDecoder().raw_decode(self.text, start)
        except (ValueError, RecursionError):
            raise self.problem("a JSON value should stand here", start) from None
        return value  # type: ignore[no-any-return]  # json gives Any

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Within, one level further down.

        Raises SyntaxProblem where that is too deep.
        """
        if self._depth >= _DEEPEST:
            raise self.problem(f"more than {_DEEPEST} conditions and values inside one another")
        self._depth += 1
        yield
        self._depth -= 1

    def done(self) -> bool:
        """True at the end of the text."""
        return self.skip() >= len(self.text)

    def expect(self, sign: str, why: str) -> None:
        """Consume this punctuation.

        Raises SyntaxProblem if something else comes next.
        """
        if not self.take_sign(sign):
            raise self.problem(f"expected {sign!r} {why}")

    def problem(self, message: str, at: int | None = None) -> SyntaxProblem:
        """An error about this place, to be raised."""
        at = self.skip() if at is None else at
        rest = self.text[at : at + 24]
        return SyntaxProblem(f"{message}, at {rest!r}" if rest else f"{message}, at the end", at)
