"""A regular expression as a tree: what it consumes, how often, in which alternatives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

_OPENING = re.compile(r"\((?:\?(?P<kind>P?<[^=!>][^>]*>|\([^)]*\)|[aiLmsux]*-?[imsx]*:|<?[=!]|>))?")
_NOTHING = re.compile(r"\(\?#[^)]*\)|\(\?[aiLmsux]+\)|[$^]|\\[AbBZ]")
"""Comments, flags and anchors: they consume nothing."""
_BACK = re.compile(r"\(\?P=\w+\)|\\[1-9]\d?(?![0-7])")
"""What a group has matched, again: any text."""
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{2,3}|.)", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_REPEAT = re.compile(r"(?:[*+?]|\{(?=\d|,\d)(?P<low>\d*)(?P<comma>,)?(?P<high>\d*)\})(?P<how>[?+])?")
_NUMBERED = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_SCOPED = re.compile(r"\(\?[aiLmsux]*-?[imsx]*:")
_USUAL = "".join(map(chr, range(32, 127))) + "\t\n\r\x00\xa0éßЖ中٣😀"


class Often(NamedTuple):
    """How often a part may stand."""

    low: int
    high: int | None
    """None: without bound."""


ONCE = Often(1, 1)


@dataclass(frozen=True, slots=True)
class Atom:
    """One character of some kind."""

    often: Often
    source: str
    """As the pattern has it; empty for any text."""

    def loops(self, end: Literal[0, -1]) -> bool:
        """True if it begins (0) or ends (-1) with a repetition without bound."""
        return self.often.high is None


@dataclass(frozen=True, slots=True)
class Group:
    """Alternatives, each a row of parts."""

    often: Often
    branches: tuple[tuple[Node, ...], ...]
    zero_width: bool = False
    """A look ahead or behind."""

    def loops(self, end: Literal[0, -1]) -> bool:
        """True if it begins (0) or ends (-1) with a repetition without bound."""
        return self.often.high is None or any(branch[end].loops(end) for branch in self.branches if branch)


type Node = Atom | Group


class Alphabet:
    """The characters by which the atoms of a pattern are told apart: one of each usual kind and all it names."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        named = [chr(int(next(filter(None, found)), 16) % 0x110000) for found in _NUMBERED.findall(pattern.pattern)]
        near = [chr(ord(each) + by) for each in {*named, *pattern.pattern} if each > "~" for by in (-1, 0, 1)]
        self._characters = sorted({*_USUAL, *near, *named})
        self._flags = pattern.flags & ~re.DEBUG
        if _SCOPED.search(pattern.pattern):
            self._flags |= re.IGNORECASE | re.DOTALL  # wider than it may be: rather refuse than hang

    @cached_property
    def _all(self) -> int:
        return (1 << len(self._characters)) - 1

    def bits(self, atom: str) -> int:
        """The characters an atom takes."""
        if not atom:
            return self._all
        takes = re.compile(atom, self._flags).fullmatch
        return sum(1 << number for number, each in enumerate(self._characters) if takes(each))


def parsed(pattern: str) -> Group:
    """The tree of a pattern that `re` has compiled."""
    reader = _Reader(pattern)
    return Group(ONCE, reader.branches())


@dataclass(slots=True)
class _Reader:
    text: str
    here: int = 0

    def branches(self) -> tuple[tuple[Node, ...], ...]:
        """Alternatives up to the end or a closing parenthesis."""
        found: list[list[Node]] = [[]]
        while self.here < len(self.text) and self.text[self.here] != ")":
            if self.text[self.here] == "|":
                self.here += 1
                found.append([])
            elif not self._took(_NOTHING):
                found[-1].append(self._node())
        return tuple(map(tuple, found))

    def _node(self) -> Node:
        if self._took(_BACK):
            return Atom(self._often(), "")
        if opening := self._took(_OPENING):
            inner = self.branches()
            self.here += 1
            return Group(self._often(), inner, (opening["kind"] or "").endswith(("=", "!")))
        begin = self.here
        if not (self._took(_CLASS) or self._took(_ESCAPE)):
            self.here += 1
        source = self.text[begin : self.here]
        return Atom(self._often(), source if source not in "{}" else "\\" + source)

    def _often(self) -> Often:
        """Lowest and highest number; lazy and possessive ones count as plain."""
        found = self._took(_REPEAT)
        if not found:
            return ONCE
        match found[0][0]:
            case "*":
                return Often(0, None)
            case "+":
                return Often(1, None)
            case "?":
                return Often(0, 1)
            case _:
                low = int(found["low"] or 0)
                high = int(found["high"]) if found["high"] else None if found["comma"] else low
                return Often(low, high)

    def _took(self, what: re.Pattern[str]) -> re.Match[str] | None:
        found = what.match(self.text, self.here)
        if found:
            self.here = found.end()
        return found
