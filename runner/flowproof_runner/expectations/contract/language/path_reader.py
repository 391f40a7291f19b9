"""`path := segment {"." segment | "[" NUMBER | FORMULA | nothing "]"}`"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from flowproof_runner.expectations.contract.language.scanner import Scanner
from flowproof_runner.expectations.contract.terms import Filter, Formula, Scope, Step, Wildcard

_INDEX = re.compile(r"0|[1-9]\d{0,8}", re.ASCII)

type Condition = Callable[[Scope | None], Formula]
"""Reads the condition that comes next, where a bare path belongs to the given scope."""


@dataclass(slots=True)
class PathReader:
    """Reads paths, with the filters in them."""

    scan: Scanner
    condition: Condition

    def path(self, skip: int = 0) -> tuple[Step, ...]:
        """The path that comes next, without its first segments where they named something else."""
        return _it((*self._segment(), *self._steps())[skip:])

    def rest(self) -> tuple[Step, ...]:
        """What follows a head that was read already: `.next`, `[0]`, `[]`, `[condition]`."""
        return _it(self._steps())

    def plain(self) -> tuple[str | int, ...] | None:
        """The path that comes next, None if it has wildcards or filters."""
        self.scan.skip()
        path = self.path()
        plain = tuple(step for step in path if isinstance(step, str | int))
        return plain if len(plain) == len(path) else None

    def index(self) -> int | None:
        """The number that comes next with the bracket that closes it, None if something else does."""
        word = self.scan.word()
        if not _INDEX.fullmatch(word) or not self.scan.text[self.scan.skip() + len(word) :].lstrip().startswith("]"):
            return None
        self.scan.take_word()
        self.scan.expect("]", "after the number")
        return int(word)

    def follows(self) -> bool:
        """True when a path is glued to what was just read."""
        return self.scan.here < len(self.scan.text) and self.scan.text[self.scan.here] not in " \t\n)],=<>!("

    def _steps(self) -> tuple[Step | None, ...]:
        steps: list[Step | None] = []
        while True:
            if self.scan.glued("["):
                steps.append(self._bracket())
            elif self.scan.glued("."):
                self.scan.here += 1
                steps += self._segment()
            else:
                return tuple(steps)

    def _segment(self) -> list[Step | None]:
        """Bare segments up to the next bracket, or one quoted segment; a bare `it` is None until `_it`."""
        if self.scan.glued('"'):
            return [str(self.scan.quoted())]
        start = self.scan.here
        word = self.scan.word()
        if self.scan.here != start or not word:
            raise self.scan.problem("expected a path", start)
        ends_open = word.endswith(".")  # a quoted segment follows
        self.scan.here += len(word) - ends_open
        parts = word.removesuffix(".").split(".")
        if not all(parts) or (ends_open and not self.scan.text[self.scan.here + 1 : self.scan.here + 2] == '"'):
            raise self.scan.problem("a path has an empty segment", start)
        return [None if part == "it" else int(part) if _INDEX.fullmatch(part) else part for part in parts]

    def _bracket(self) -> Step:
        self.scan.here += 1
        if self.scan.take_sign("]"):
            return Wildcard()
        index = self.index()
        if index is not None:
            return index
        condition = self.condition("item")
        self.scan.expect("]", "to close the filter")
        return Filter(condition)


def _it(path: tuple[Step | None, ...]) -> tuple[Step, ...]:
    """`it` at the front is the value itself, so that a whole answer can be filtered: `tool.it[id = 1]`."""
    inner = path[1:] if path[:1] == (None,) else path
    return tuple("it" if step is None else step for step in inner)
