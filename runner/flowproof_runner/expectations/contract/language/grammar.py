"""`expect:` as people write it: prose lines and their structured twins, compiled to one AST."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from flowproof_runner.expectations.contract.language import approvals, limits, prose, structured
from flowproof_runner.expectations.contract.language.forms import EachForm, Expect
from flowproof_runner.expectations.contract.language.mentions import mentioned
from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.scanner import SyntaxProblem
from flowproof_runner.expectations.contract.language.syntax import parse_term
from flowproof_runner.expectations.contract.model import AnyExpectation, Contract, Each
from flowproof_runner.expectations.contract.terms import Term
from flowproof_runner.reading.problems import Complaint, Loc

SECTIONS = ("calls", "order", "args", "each", "holds", "confirm", "outcome", "budget", "mcp")


@dataclass
class _Compiler:
    """One pass over an `Expect`, collecting every complaint."""

    names: Names
    where: Callable[[Loc], str]
    complaints: list[Complaint] = field(default_factory=list)
    loc: Loc = ()

    def compile(self, expect: Expect) -> Contract:
        out: list[AnyExpectation] = []
        for section in SECTIONS:
            for place, form in enumerate(getattr(expect, section)):
                self.loc = (section, place)
                out += self._placed(self._form(form, section, self.names), f"{section}[{place}]")
        return Contract(expectations=tuple(out), strict=expect.strict)

    def _placed(self, found: tuple[AnyExpectation, ...], id: str) -> list[AnyExpectation]:
        where = self.where(self.loc)
        several = len(found) > 1
        return [replace(each, id=f"{id}.{i}" if several else id, where=where) for i, each in enumerate(found)]

    def _form(self, form: object, section: str, names: Names) -> tuple[AnyExpectation, ...]:
        try:
            if isinstance(form, str):
                return read_line(form, section, names)
            return (self._each(form, names),) if isinstance(form, EachForm) else structured.compiled(form, names)
        except SyntaxProblem as problem:
            column = problem.column if isinstance(form, str) else None
            self.complaints.append(Complaint(str(problem), self.loc, column))
            return ()

    def _each(self, form: EachForm, names: Names) -> Each:
        over, name = _over(form.for_, names)
        inner = names.bind(name)
        body: list[AnyExpectation] = []
        outer = self.loc
        for place, part in enumerate(form.expect):
            self.loc = (*outer, "expect", place)
            body += self._placed(self._form(part, "calls", inner), f"{outer[0]}[{outer[1]}].expect[{place}]")
        self.loc = outer
        return Each(over=over, name=name, body=tuple(body))


def compile_expect(
    expect: Expect, tools: Iterable[str] = (), where: Callable[[Loc], str] = lambda loc: ""
) -> tuple[Contract, tuple[Complaint, ...]]:
    """The contract of an `expect:`, with everything wrong in it; complaints are located from `expect` on.

    `tools`: names that bare words may refer to (those under `tools:` and `mcp:`); tools the contract names itself
    are added. `where`: gives `file:line` of a place in `expect`.
    """
    names = Names(frozenset(tools) | frozenset(mentioned(expect)))
    compiler = _Compiler(names, where)
    contract = compiler.compile(expect)
    return contract, tuple(compiler.complaints)


def read_line(text: str, section: str, names: Names) -> tuple[AnyExpectation, ...]:
    """What a line of prose under a section expects. Raises SyntaxProblem if it is none."""
    match section:
        case "order":
            return prose.order(text, names)
        case "args":
            return (prose.arguments(text, names),)
        case "holds":
            return (prose.holds(text, names),)
        case "confirm":
            return approvals.confirmation(text, names)
        case "outcome":
            return (limits.outcome(text, names),)
        case "budget":
            return limits.budget(text)
        case "mcp":
            return (limits.lane(text),)
        case _:
            return (prose.calls(text, names),)


def _over(text: str, names: Names) -> tuple[Term, str]:
    head, _, name = text.rpartition(" as ")
    name = name.strip()
    if not head or not name.isidentifier():
        raise SyntaxProblem("expected 'COLLECTION as NAME'", 0)
    if name in names.tools or name in names.variables or name in ("out", "item", "args", "result"):
        raise SyntaxProblem(f"{name!r} already means something else; give the elements another name", 0)
    return parse_term(head, names), name


__all__ = ["Expect", "compile_expect", "read_line"]
