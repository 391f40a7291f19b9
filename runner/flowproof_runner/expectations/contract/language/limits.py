"""The lines on the outcome, on budgets and on MCP servers: `status completed`, `at most 12 turns, 20k tokens, 5s`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic_core import PydanticCustomError

from flowproof_runner.expectations.contract.language.kinds import percent, quantity
from flowproof_runner.expectations.contract.language.line_reader import LineReader
from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.prose import schema
from flowproof_runner.expectations.contract.language.scanner import Scanner
from flowproof_runner.expectations.contract.language.syntax import Parser
from flowproof_runner.expectations.contract.model import AnyExpectation, Budget, Calls, Lane, Outcome
from flowproof_runner.reading.fields import seconds, size_bytes

_UNITS = {"call": "calls", "turn": "turns", "token": "tokens"}


def outcome(text: str, names: Names) -> Outcome:
    """Read one line about the outcome. Raises SyntaxProblem if it is none."""
    return _Line(Parser(Scanner(text), names)).outcome()


def budget(text: str) -> tuple[AnyExpectation, ...]:
    """Read one line of upper bounds. Raises SyntaxProblem if it is none."""
    return _Line(Parser(Scanner(text), Names())).budget()


def lane(text: str) -> Lane:
    """Read one line about an MCP server. Raises SyntaxProblem if it is none."""
    return _Line(Parser(Scanner(text), Names())).lane()


@dataclass(slots=True)
class _Line(LineReader):
    """One line being read."""

    def outcome(self) -> Outcome:
        found = self._said()
        when = self.clause("when", None)
        self.parser.end()
        return replace(found, when=when)

    def _said(self) -> Outcome:
        if self.scan.word() == "status" and "status" not in self.parser.names.tools:
            self.scan.take_word()
            if not self.scan.take("is"):
                self.scan.take("equals")
            status = self.scan.quoted() or self.scan.take_word()
            if not status:
                raise self.scan.problem("expected 'status completed', or another status")
            return Outcome(status=status)
        if self.scan.take("schema"):
            return Outcome(schema=schema(self.scan))
        return Outcome(such=self.parser.formula(None))

    def budget(self) -> tuple[AnyExpectation, ...]:
        if not self.scan.take("at", "most"):
            raise self.scan.problem("expected 'at most 12 turns, 20k tokens, 5s'")
        bounds = dict([self._bound()])
        while self.scan.take_sign(","):
            name, bound = self._bound()
            if name in bounds:
                raise self.scan.problem(f"{name} is bounded twice")
            bounds[name] = bound
        self.parser.end()
        return bounded(
            _whole(bounds.get("calls")), _whole(bounds.get("turns")), _whole(bounds.get("tokens")), bounds.get("ms")
        )

    def _bound(self) -> tuple[str, float]:
        word, start = self.scan.take_word(), self.scan.here
        unit = _UNITS.get(self.scan.word().removesuffix("s"))
        if unit is None:
            return "ms", self._read(seconds, word, start) * 1000
        self.scan.take_word()
        return unit, self._read(quantity, word, start)

    def lane(self) -> Lane:
        every = self.scan.take("every", "server")
        server = "" if every else self.tool()
        if self.scan.take("never", "fails"):
            self.parser.end()
            return Lane(server=server, errors=True)
        if not self.scan.take("answers"):
            raise self.scan.problem(
                "expected 'SERVER answers within 100ms', 'SERVER answers at most 64KiB' or 'SERVER never fails'"
            )
        found = self._answers(Lane(server=server))
        while self.scan.take_sign(","):
            found = self._answers(found)
        self.parser.end()
        return found

    def _answers(self, lane: Lane) -> Lane:
        start = self.scan.here
        if self.scan.take("at", "most"):
            return replace(lane, result_bytes=self._read(size_bytes, self.scan.take_word(), start))
        if self.scan.take("without", "errors"):
            return replace(lane, errors=True)
        share = None if self.scan.word() == "within" else self._read(percent, self.scan.take_word(), start)
        if not self.scan.take("within"):
            raise self.scan.problem("expected 'within 100ms', '95% within 100ms', 'at most 64KiB' or 'without errors'")
        took = self._read(seconds, self.scan.take_word(), self.scan.here) * 1000
        return replace(lane, call_ms=took, share=lane.share if share is None else share)

    def _read[T](self, read: Callable[[object], T], word: str, at: int) -> T:
        try:
            return read(word)
        except PydanticCustomError as error:
            raise self.scan.problem(error.message(), at) from None


def bounded(
    calls: int | None, turns: int | None, tokens: int | None, duration_ms: float | None
) -> tuple[AnyExpectation, ...]:
    """What a budget expects; the number of calls is an expectation of its own."""
    rest = Budget(turns=turns, tokens=tokens, duration_ms=duration_ms)
    ceiling = (Calls(at_most=calls),) if calls is not None else ()
    return (*ceiling, rest) if rest != Budget() or not ceiling else ceiling


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
