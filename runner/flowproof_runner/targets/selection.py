"""`-k`: which flows are meant, by parts of their names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from flowproof_addons import FlowproofError

type Predicate = Callable[[str], bool]

_TOKEN = re.compile(r"\s*(?:(\()|(\))|(\"[^\"]*\"|'[^']*')|([^\s()\"']+))")
_WORDS = ("and", "or", "not")


class SelectionError(FlowproofError):
    """The `-k` expression cannot be read."""


@dataclass(frozen=True, slots=True)
class Selection:
    """An expression that was read."""

    expression: str | None
    test: Predicate

    def __call__(self, name: str) -> bool:
        """Whether a flow of this name is meant."""
        return self.test(name)

    def __str__(self) -> str:
        """As the user gave it."""
        return f"-k {self.expression!r}"


EVERYTHING = Selection(None, lambda name: True)


def parse(expression: str) -> Selection:
    """A test for names: words found in them (case does not count), joined by `and`, `or`, `not` and brackets.

    Raises SelectionError if the expression cannot be read.
    """
    reader = _Reader(expression, _tokens(expression))
    found = reader.either()
    if reader.tokens:
        raise reader.wrong(f"{reader.tokens[0]!r} was not expected")
    return Selection(expression, found)


def _tokens(expression: str) -> list[str]:
    tokens, at = list[str](), 0
    while expression[at:].strip():
        match = _TOKEN.match(expression, at)
        if match is None:
            raise SelectionError(f"-k {expression!r}: a quote is not closed")
        tokens.append(match[0].strip())
        at = match.end()
    return tokens


@dataclass(slots=True)
class _Reader:
    """Recursive descent: or, and, not, then a word or brackets."""

    expression: str
    tokens: list[str]

    def either(self) -> Predicate:
        left = self.both()
        while self._next("or"):
            left = _either(left, self.both())
        return left

    def both(self) -> Predicate:
        left = self.one()
        while self._next("and"):
            left = _both(left, self.one())
        return left

    def one(self) -> Predicate:
        if self._next("not"):
            inner = self.one()
            return lambda name: not inner(name)
        if self._next("("):
            inner = self.either()
            if not self._next(")"):
                raise self.wrong("a bracket is not closed")
            return inner
        return self._word()

    def wrong(self, why: str) -> SelectionError:
        return SelectionError(
            f"-k {self.expression!r}: {why}; write parts of names with and, or, not and brackets:"
            " 'booking and not slow'"
        )

    def _word(self) -> Predicate:
        if not self.tokens or self.tokens[0] in (*_WORDS, ")"):
            raise self.wrong("a name is missing")
        word = self.tokens.pop(0).strip("\"'").casefold()
        return lambda name: word in name.casefold()

    def _next(self, token: str) -> bool:
        if self.tokens[:1] == [token]:
            self.tokens.pop(0)
            return True
        return False


def _either(left: Predicate, right: Predicate) -> Predicate:
    return lambda name: left(name) or right(name)


def _both(left: Predicate, right: Predicate) -> Predicate:
    return lambda name: left(name) and right(name)
