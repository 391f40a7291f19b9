"""What all prose lines of `expect:` are read with: names of tools, whole numbers, paths, conditions."""

from __future__ import annotations

from dataclasses import dataclass

from flowproof_runner.expectations.contract.language.scanner import Scanner
from flowproof_runner.expectations.contract.language.syntax import Parser
from flowproof_runner.expectations.contract.terms import Formula, Scope


@dataclass(slots=True)
class LineReader:
    """One line being read."""

    parser: Parser

    @property
    def scan(self) -> Scanner:
        """Where it has got to."""
        return self.parser.scan

    def clause(self, word: str, bare: Scope | None) -> Formula | None:
        """The condition behind this word, None if the word does not come next."""
        return self.parser.formula(bare) if self.scan.take(word) else None

    def whole(self) -> int:
        """The whole number that comes next. Raises SyntaxProblem if none does."""
        word = self.scan.word()
        if not (word.isascii() and word.isdecimal() and len(word) < 7):
            raise self.scan.problem("expected a whole number")
        self.scan.take_word()
        return int(word)

    def tools(self) -> tuple[str, ...]:
        """The names that come next, with commas between. Raises SyntaxProblem if there is none."""
        tools = [self.tool()]
        while self.scan.take_sign(","):
            tools.append(self.tool())
        return tuple(tools)

    def tool(self) -> str:
        """The name that comes next. Raises SyntaxProblem if none does."""
        name = self.scan.quoted()
        name = self.scan.take_word() if name is None else name
        if not name:
            raise self.scan.problem("expected a tool's name")
        return name

    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The argument paths that come next, with commas between. Raises SyntaxProblem if there is none."""
        paths = [self._path()]
        while self.scan.take_sign(","):
            paths.append(self._path())
        return tuple(paths)

    def _path(self) -> tuple[str, ...]:
        steps = self.parser.plain_path()
        if steps is None:
            raise self.scan.problem("expected a plain argument path: expenseId, item.id")
        return tuple(map(str, steps))
