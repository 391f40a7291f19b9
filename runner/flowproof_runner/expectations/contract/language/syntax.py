"""Text to terms and formulas: `amount equals list_pending.expenses[id = $expenseId].amount`.

    formula   := formula "or" formula | formula "and" formula | "not" formula | "(" formula ")" | comparison
    comparison:= term OPERATOR [term]
    term      := "text" | 12 | true | null | [a, b] | json(...) | $argument | out.path | variable.path
               | tool.path | tool[selector].path | tool.args.path | result(tool)... | args(tool)...
               | count|sum|min|max|avg|distinct|all|first|latest|every|one (term)
               | any(term, term) | after(term, [a, b], 1)
    path      := segment {"." segment | "[" NUMBER | FORMULA | nothing "]"}

On the left of an operator a bare path belongs to the thing being tested (the call, the element, the producing call);
on the right a bare word is text unless it begins with a name that is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.operators import operator
from flowproof_runner.expectations.contract.language.path_reader import PathReader
from flowproof_runner.expectations.contract.language.scanner import Scanner
from flowproof_runner.expectations.contract.language.term_reader import TermReader
from flowproof_runner.expectations.contract.terms import (
    UNARY,
    Compare,
    Formula,
    Not,
    Scope,
    Term,
    conjunction,
    disjunction,
)


def parse_formula(text: str, names: Names, bare: Scope | None = None) -> Formula:
    """Read a whole text as a condition. `bare`: what a bare path on the left belongs to; None: it must be named.

    Raises SyntaxProblem if it is not one.
    """
    parser = Parser(Scanner(text), names)
    formula = parser.formula(bare)
    parser.end()
    return formula


def parse_term(text: str, names: Names, bare: Scope | None = None) -> Term:
    """Read a whole text as a term. Raises SyntaxProblem if it is not one."""
    parser = Parser(Scanner(text), names)
    term = parser.left(bare)
    parser.end()
    return term


def parse_value(text: str, names: Names, bare: Scope) -> Term:
    """Read a whole text as what stands on the right of an operator. Raises SyntaxProblem if it cannot."""
    parser = Parser(Scanner(text), names)
    term = parser.right(bare)
    parser.end()
    return term


@dataclass(slots=True)
class Parser:
    """Reads one text; the prose lines of `expect:` share it."""

    scan: Scanner
    names: Names
    terms: TermReader = field(init=False)

    def __post_init__(self) -> None:
        self.terms = TermReader(self.scan, self.names, PathReader(self.scan, self.formula))

    def end(self) -> None:
        """Raises SyntaxProblem unless everything was read."""
        if not self.scan.done():
            raise self.scan.problem("this was not expected; values with blanks or signs go in double quotes")

    def formula(self, bare: Scope | None) -> Formula:
        """The condition that comes next."""
        parts = [self._all(bare)]
        while self.scan.take("or"):
            parts.append(self._all(bare))
        return disjunction(parts)

    def _all(self, bare: Scope | None) -> Formula:
        parts = [self._part(bare)]
        while self.scan.take("and"):
            parts.append(self._part(bare))
        return conjunction(parts)

    def _part(self, bare: Scope | None) -> Formula:
        with self.scan.nested():
            return self._one(bare)

    def _one(self, bare: Scope | None) -> Formula:
        if self.scan.take("not"):
            return Not(self._part(bare))
        if self.scan.take_sign("("):
            inner = self.formula(bare)
            self.scan.expect(")", "to close the condition")
            return inner
        left = self.left(bare)
        compared, negated = operator(self.scan)
        right = None if compared in UNARY else self.right(bare)
        return Compare(left, compared, right, negated)

    def left(self, bare: Scope | None) -> Term:
        """The term that comes next, where a bare path belongs to the thing under test."""
        return self.terms.left(bare)

    def right(self, bare: Scope | None) -> Term:
        """The term that comes next, where an unknown bare word is text."""
        return self.terms.right(bare)

    def plain_path(self) -> tuple[str | int, ...] | None:
        """The path that comes next, None if it has wildcards or filters."""
        return self.terms.paths.plain()
