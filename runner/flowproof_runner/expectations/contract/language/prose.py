"""The lines of `expect:`: `approve_expense as many as out.approved`, `get_policy before approve_expense`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.scanner import Scanner
from flowproof_runner.expectations.contract.language.syntax import Parser
from flowproof_runner.expectations.contract.model import Arguments, Calls, Confirmation, Holds, Order, Precedence
from flowproof_runner.expectations.contract.terms import Formula, Literal, Scope

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


def confirmation(text: str, names: Names) -> tuple[Confirmation, ...]:
    """Read one line about approvals. Raises SyntaxProblem if it is none."""
    return _Line(Parser(Scanner(text), names)).confirmation()


@dataclass(slots=True)
class _Line:
    """One line being read."""

    parser: Parser

    @property
    def scan(self) -> Scanner:
        return self.parser.scan

    def calls(self) -> Calls:
        bounds = self._bounds()
        if bounds is not None:
            self.scan.take("of")
            tools = () if self.scan.take("calls") or self.scan.take("call") else self._tools()
            return self._limited(tools, bounds)
        tools = self._tools()
        if self.scan.take("never"):
            at: OneOf["call", "request"] = "request" if self.scan.take("requested") else "call"
            such, when, _ = self._tail()
            return Calls(tools=tools, such=such, at_most=0, when=when, at=at, kind="forbidden")
        if self.scan.take("as", "many", "as"):
            term = self.parser.right(None)
            if isinstance(term, Literal):
                raise self.scan.problem(
                    "expected a list or number of this run; for a fixed number write: exactly 3 of ..."
                )
            such, when, _ = self._tail()
            return Calls(tools=tools, such=such, as_many_as=term, when=when)
        return self._limited(tools, self._bounds() or Bounds(1, None, said=False))

    def _limited(self, tools: tuple[str, ...], bounds: Bounds) -> Calls:
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
            kind="required" if tools and floor_only else "count",
        )

    def order(self) -> tuple[Order | Precedence, ...]:
        scope: OneOf["informed", "first", "all"] = "informed"
        if self.scan.take("first"):
            scope = "first"
        elif self.scan.take("every"):
            scope = "all"
        first = self._tool()
        if scope == "informed" and self.scan.word() == "then":
            tools = [first]
            while self.scan.take("then"):
                tools.append(self._tool())
            self.parser.end()
            return (Order(tools=tuple(tools)),)
        if not self.scan.take("before"):
            raise self.scan.problem("expected 'A before B' or 'A then B'")
        every = self.scan.take("every")
        afters = self._tools()
        per = self._paths() if self.scan.take("per") else ()
        self.parser.end()
        required = every or not per
        return tuple(Precedence(before=first, after=a, scope=scope, per=per, required=required) for a in afters)

    def arguments(self) -> Arguments:
        call = None
        if self.scan.take("call"):
            call = self._whole() - 1
            if call < 0 or not self.scan.take("of"):
                raise self.scan.problem("expected 'call N of TOOL', counted from 1")
        tool = self._tool()
        if self.scan.take("distinct"):
            distinct = self._paths()
            self.parser.end()
            return Arguments(tool=tool, call=call, distinct=distinct)
        if not self.scan.take("where"):
            raise self.scan.problem("expected 'TOOL where CONDITION' or 'TOOL distinct PATH'")
        such = self.parser.formula("call")
        when = self.parser.formula("call") if self.scan.take("when") else None
        self.parser.end()
        return Arguments(tool=tool, call=call, such=such, when=when)

    def confirmation(self) -> tuple[Confirmation, ...]:
        tools = self._tools()
        if not self.scan.take("needs"):
            raise self.scan.problem("expected 'TOOL needs ASKER approved [with same arguments]'")
        if self._numbered_prompt():
            return self._prompted(tools)
        by = "any" if self.scan.take("confirmation") else self._tool()
        self.scan.take("approved")
        bound = self.scan.take("with", "same", "arguments")
        self.parser.end()
        return tuple(Confirmation(tool=tool, by=by, bound=bound) for tool in tools)

    def _numbered_prompt(self) -> bool:
        """A tool may be called prompt, too."""
        before = self.scan.here
        if self.scan.take("prompt") and self.scan.word().isdecimal():
            return True
        self.scan.here = before
        return False

    def _prompted(self, tools: tuple[str, ...]) -> tuple[Confirmation, ...]:
        """`2 or 3 until prompt 4 where amount < 100`."""
        prompts = [self._nth()]
        while self.scan.take("or"):
            self.scan.take("prompt")
            prompts.append(self._nth())
        until = self._nth() if self.scan.take("until", "prompt") else None
        such = self.parser.formula("call") if self.scan.take("where") else None
        if self.scan.take("with", "same", "arguments"):
            raise self.scan.problem("a prompt is no arguments; say which calls it approves: where amount equals 40")
        self.parser.end()
        return tuple(
            Confirmation(tool=tool, by="prompt", prompts=tuple(prompts), until=until, such=such) for tool in tools
        )

    def _nth(self) -> int:
        number = self._whole()
        if not number:
            raise self.scan.problem("prompts are counted from 1")
        return number

    def _tail(self) -> tuple[Formula | None, Formula | None, bool]:
        such = self.parser.formula("call") if self.scan.take("where") else None
        only_when = self.scan.take("required")
        when = self._when(only_when)
        self.parser.end()
        return such, when, only_when

    def _when(self, demanded: bool) -> Formula | None:
        bare: Scope | None = None
        if self.scan.take("when"):
            return self.parser.formula(bare)
        if demanded:
            raise self.scan.problem("expected 'required when CONDITION'")
        return None

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
            return Bounds(at_least)
        if at_least is None and not self.scan.take("at", "most"):
            return None
        return Bounds(at_least, self._times())

    def _times(self) -> int:
        for word, number in _TIMES.items():
            if self.scan.take(word):
                return number
        number = self._whole()
        if not self.scan.take("times"):
            self.scan.take("time")
        return number

    def _whole(self) -> int:
        word = self.scan.word()
        if not (word.isascii() and word.isdecimal() and len(word) < 7):
            raise self.scan.problem("expected a whole number")
        self.scan.take_word()
        return int(word)

    def _tools(self) -> tuple[str, ...]:
        tools = [self._tool()]
        while self.scan.take_sign(","):
            tools.append(self._tool())
        return tuple(tools)

    def _tool(self) -> str:
        name = self.scan.quoted()
        name = self.scan.take_word() if name is None else name
        if not name:
            raise self.scan.problem("expected a tool's name")
        return name

    def _paths(self) -> tuple[tuple[str, ...], ...]:
        paths = [self._path()]
        while self.scan.take_sign(","):
            paths.append(self._path())
        return tuple(paths)

    def _path(self) -> tuple[str, ...]:
        steps = self.parser.plain_path()
        if steps is None:
            raise self.scan.problem("expected a plain argument path: expenseId, item.id")
        return tuple(map(str, steps))
