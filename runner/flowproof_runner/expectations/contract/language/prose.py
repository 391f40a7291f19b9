"""The lines on calls, order and arguments: `approve as many as out.approved`, `get_policy before approve`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.line_reader import LineReader
from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.scanner import Scanner
from flowproof_runner.expectations.contract.language.syntax import Parser
from flowproof_runner.expectations.contract.model import Arguments, At, Calls, Holds, Order, Precedence
from flowproof_runner.expectations.contract.schema import schema_problem
from flowproof_runner.expectations.contract.terms import Formula, Literal

_TIMES = {"once": 1, "twice": 2}


@dataclass(frozen=True, slots=True)
class Bounds:
    """How often, as a line says it."""

    at_least: int | None = None
    at_most: int | None = None
    said: bool = True
    """False when the line names no number and means: at least once."""


def calls(text: str, names: Names) -> Calls:
    """Read one line about how often tools are called. Raises SyntaxProblem if it is none."""
    return _Line(Parser(Scanner(text), names)).calls()


def order(text: str, names: Names) -> tuple[Order | Precedence, ...]:
    """Read one line about order; `A before B, C` says two things. Raises SyntaxProblem if it is none."""
    return _Line(Parser(Scanner(text), names)).order()


def arguments(text: str, names: Names) -> Arguments:
    """Read one line about arguments. Raises SyntaxProblem if it is none."""
    return _Line(Parser(Scanner(text), names)).arguments()


def holds(text: str, names: Names) -> Holds:
    """Read one condition on the whole run. Raises SyntaxProblem if it is none."""
    parser = Parser(Scanner(text), names)
    such = parser.formula(None)
    when = parser.formula(None) if parser.scan.take("when") else None
    parser.end()
    return Holds(such=such, when=when)


def schema(scan: Scanner) -> JsonValue:
    """The JSON Schema that comes next. Raises SyntaxProblem if none does."""
    start = scan.skip()
    found = scan.json()
    problem = schema_problem(found)
    if problem is not None:
        raise scan.problem(f"not a JSON Schema: {problem}", start)
    return found


@dataclass(slots=True)
class _Line(LineReader):
    """One line being read."""

    def calls(self) -> Calls:
        bounds = self._bounds()
        if bounds is not None:
            self.scan.take("of")
            tools = () if self.scan.take("calls") or self.scan.take("call") else self.tools()
            return self._limited(tools, bounds, self._at())
        tools = self.tools()
        if self.scan.take("never"):
            at = self._at()
            such, when, _ = self._tail()
            return Calls(tools=tools, such=such, at_most=0, when=when, at=at, kind="forbidden")
        at = self._at()
        if self.scan.take("as", "many", "as"):
            term = self.parser.right(None)
            if isinstance(term, Literal):
                raise self.scan.problem(
                    "expected a list or number of this run; for a fixed number write: exactly 3 of ..."
                )
            such, when, _ = self._tail()
            return Calls(tools=tools, such=such, as_many_as=term, when=when, at=at)
        return self._limited(tools, self._bounds() or Bounds(1, None, said=False), at)

    def _at(self) -> At:
        return "request" if self.scan.take("requested") else "call"

    def _limited(self, tools: tuple[str, ...], bounds: Bounds, at: At) -> Calls:
        such, when, only_when = self._tail()
        if only_when and bounds.said:
            raise self.scan.problem("'required when' is about calling at all; leave the number out, or write 'when'")
        floor_only = (bounds.at_least, bounds.at_most) == (1, None)
        return Calls(
            tools=tools,
            such=such,
            at_least=bounds.at_least,
            at_most=bounds.at_most,
            when=when,
            only_when=only_when,
            at=at,
            kind="required" if tools and floor_only else "count",
        )

    def order(self) -> tuple[Order | Precedence, ...]:
        scope: OneOf["informed", "first", "all"] = "informed"
        if self.scan.take("first"):
            scope = "first"
        elif self.scan.take("every"):
            scope = "all"
        first = self.tool()
        if scope == "informed" and self.scan.word() == "then":
            tools = [first]
            while self.scan.take("then"):
                tools.append(self.tool())
            self.parser.end()
            return (Order(tools=tuple(tools)),)
        if not self.scan.take("before"):
            raise self.scan.problem("expected 'A before B' or 'A then B'")
        every = self.scan.take("every")
        afters = self.tools()
        per = self.paths() if self.scan.take("per") else ()
        self.parser.end()
        required = every or not per
        return tuple(Precedence(before=first, after=a, scope=scope, per=per, required=required) for a in afters)

    def arguments(self) -> Arguments:
        call = None
        if self.scan.take("call"):
            call = self.whole() - 1
            if call < 0 or not self.scan.take("of"):
                raise self.scan.problem("expected 'call N of TOOL', counted from 1")
        tool = self.tool()
        such = self.clause("where", "call")
        distinct = self.paths() if self.scan.take("distinct") else ()
        form = schema(self.scan) if self.scan.take("by", "schema") else None
        if such is None and not distinct and form is None:
            raise self.scan.problem("expected 'TOOL where CONDITION', 'TOOL distinct PATH' or 'TOOL by schema JSON'")
        when = self.clause("when", "call")
        self.parser.end()
        return Arguments(tool=tool, call=call, such=such, schema=form, distinct=distinct, when=when)

    def _tail(self) -> tuple[Formula | None, Formula | None, bool]:
        such = self.clause("where", "call")
        only_when = self.scan.take("required")
        when = self.clause("when", None)
        if only_when and when is None:
            raise self.scan.problem("expected 'required when CONDITION'")
        self.parser.end()
        return such, when, only_when

    def _bounds(self) -> Bounds | None:
        """`at least 2 [times]`, `at most once`, `exactly 3`, `at least 1 and at most 3`, `twice`."""
        for word, number in _TIMES.items():
            if self.scan.take(word):
                return Bounds(number, number)
        if self.scan.take("exactly"):
            number = self._times()
            return Bounds(number, number)
        at_least = self._times() if self.scan.take("at", "least") else None
        if at_least is not None and not self.scan.take("and", "at", "most"):
            if not at_least:
                raise self.scan.problem("at least 0 demands nothing")
            return Bounds(at_least)
        if at_least is None and not self.scan.take("at", "most"):
            return None
        return Bounds(at_least, self._times())

    def _times(self) -> int:
        for word, number in _TIMES.items():
            if self.scan.take(word):
                return number
        number = self.whole()
        if not self.scan.take("times"):
            self.scan.take("time")
        return number
