"""`expect:` as people write it: prose lines and their structured twins, compiled to one AST."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language import prose, tree
from flowproof_runner.expectations.contract.language.forms import (
    ArgumentsForm,
    BudgetForm,
    CallsForm,
    ConfirmationForm,
    EachForm,
    Expect,
    HoldsForm,
    LaneForm,
    OutcomeForm,
    PrecedenceForm,
    SequenceForm,
)
from flowproof_runner.expectations.contract.language.mentions import mentioned
from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.scanner import Scanner, SyntaxProblem
from flowproof_runner.expectations.contract.language.syntax import Parser, parse_formula, parse_term
from flowproof_runner.expectations.contract.model import (
    AnyExpectation,
    Arguments,
    Budget,
    Calls,
    Confirmation,
    Contract,
    Each,
    Holds,
    Lane,
    Order,
    Outcome,
    Precedence,
)
from flowproof_runner.expectations.contract.schema import schema_problem
from flowproof_runner.expectations.contract.terms import Compare, Formula, Ref, Scope, Term, conjunction
from flowproof_runner.spec.problems import Complaint, Loc


@dataclass
class _Compiler:
    """One pass over an `Expect`, collecting every complaint."""

    names: Names
    where: Callable[[Loc], str]
    complaints: list[Complaint] = field(default_factory=list)
    loc: Loc = ()

    def compile(self, expect: Expect) -> Contract:
        out: list[AnyExpectation] = []
        for section in ("calls", "order", "args", "each", "holds", "confirm", "outcome", "budget", "mcp"):
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
            return self._line(form, section, names) if isinstance(form, str) else self._structured(form, names)
        except SyntaxProblem as problem:
            column = problem.column if isinstance(form, str) else None
            self.complaints.append(Complaint(str(problem), self.loc, column))
            return ()

    def _line(self, text: str, section: str, names: Names) -> tuple[AnyExpectation, ...]:
        match section:
            case "order":
                return prose.order(text, names)
            case "args":
                return (prose.arguments(text, names),)
            case "holds":
                return (prose.holds(text, names),)
            case "confirm":
                return prose.confirmation(text, names)
            case _:
                return (prose.calls(text, names),)

    def _structured(self, form: object, names: Names) -> tuple[AnyExpectation, ...]:
        match form:
            case CallsForm():
                return (self._calls(form, names),)
            case SequenceForm(order=tools):
                return (Order(tools=tools),)
            case PrecedenceForm():
                per = tuple(_plain(path) for path in form.per)
                return (
                    Precedence(before=form.before, after=form.after, scope=form.scope, per=per, required=form.required),
                )
            case ArgumentsForm():
                return (self._arguments(form, names),)
            case ConfirmationForm():
                return (self._confirmation(form, names),)
            case OutcomeForm():
                return self._outcome(form, names)
            case BudgetForm():
                return self._budget(form)
            case LaneForm():
                return (self._lane(form),)
            case HoldsForm():
                such = conjunction([parse_formula(text, names) for text in form.holds])
                return (Holds(such=such, when=parse_formula(form.when, names) if form.when else None),)
            case EachForm():
                return (self._each(form, names),)
            case _:
                raise AssertionError(f"no such form: {form!r}")

    def _calls(self, form: CallsForm, names: Names) -> Calls:
        if form.exactly is not None and (form.at_least, form.at_most) != (None, None):
            raise SyntaxProblem("exactly stands alone, without at_least and at_most", 0)
        said = (form.exactly, form.at_least, form.at_most, form.as_many_as)
        floor = form.at_least if form.exactly is None else form.exactly
        return Calls(
            tools=form.calls,
            such=self._all(form.where, names, "call"),
            at_least=1 if all(bound is None for bound in said) else floor,
            at_most=form.at_most if form.exactly is None else form.exactly,
            as_many_as=parse_term(form.as_many_as, names) if form.as_many_as else None,
            when=parse_formula(form.when, names) if form.when else None,
            only_when=form.only_when,
            at=form.at,
            kind=form.kind,
        )

    def _arguments(self, form: ArgumentsForm, names: Names) -> Arguments:
        self._schema(form.schema_)
        return Arguments(
            tool=form.tool,
            call=None if form.call is None else form.call - 1,
            such=self._such(form.where, form.match, names, "call"),
            schema=form.schema_,
            distinct=tuple(_plain(path) for path in form.distinct),
            when=parse_formula(form.when, names, "call") if form.when else None,
        )

    def _confirmation(self, form: ConfirmationForm, names: Names) -> Confirmation:
        if form.prompt and (form.by != "any" or form.same_arguments or form.approves):
            raise SyntaxProblem("prompt stands without by, same_arguments and approves; say what it approves: where", 0)
        if not form.prompt and (form.until is not None or form.where):
            raise SyntaxProblem("until and where belong to prompt", 0)
        return Confirmation(
            tool=form.tool,
            by="prompt" if form.prompt else form.by,
            bound=form.same_arguments,
            approves=parse_formula(form.approves, names, "result") if form.approves else None,
            prompts=form.prompt,
            until=form.until,
            such=self._all(form.where, names, "call"),
        )

    def _outcome(self, form: OutcomeForm, names: Names) -> tuple[Outcome, ...]:
        """One expectation for each thing said, so that a finding names the one that failed."""
        self._schema(form.schema_)
        when = parse_formula(form.when, names) if form.when else None
        status = (Outcome(status=form.status, when=when),) if form.status is not None else ()
        lines = tuple(Outcome(such=parse_formula(text, names), when=when) for text in form.where)
        match = self._such((), form.match, names, "out")
        tree_ = (Outcome(such=match, when=when),) if match is not None else ()
        schema = (Outcome(schema=form.schema_, when=when),) if form.schema_ is not None else ()
        return (*status, *lines, *tree_, *schema)

    def _budget(self, form: BudgetForm) -> tuple[AnyExpectation, ...]:
        duration = form.duration_ms if form.duration is None else form.duration * 1000
        budget = Budget(turns=form.turns, tokens=form.tokens, duration_ms=duration)
        calls = (Calls(at_most=form.calls),) if form.calls is not None else ()
        return (*calls, budget) if budget != Budget() or not calls else calls

    def _lane(self, form: LaneForm) -> Lane:
        return Lane(
            server=form.server,
            call_ms=form.call_ms if form.call is None else form.call * 1000,
            result_bytes=form.result_bytes if form.result is None else form.result,
            errors=form.errors,
            tools=form.tools,
            capabilities=form.capabilities,
        )

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

    def _such(
        self, lines: tuple[str, ...], match: Mapping[str, JsonValue] | None, names: Names, scope: Scope
    ) -> Formula | None:
        parts = [parse_formula(text, names, "call" if scope == "call" else None) for text in lines]
        if match is not None:
            parts.append(tree.formula(dict(match), Ref(scope), lambda node, at: _reference(node, at, names)))
        return conjunction(parts) if parts else None

    def _all(self, lines: tuple[str, ...], names: Names, bare: Scope) -> Formula | None:
        parts = [parse_formula(text, names, bare) for text in lines]
        return conjunction(parts) if parts else None

    def _schema(self, schema: JsonValue) -> None:
        problem = None if schema is None else schema_problem(schema)
        if problem is not None:
            raise SyntaxProblem(f"not a JSON Schema: {problem}", 0)


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


def _over(text: str, names: Names) -> tuple[Term, str]:
    head, _, name = text.rpartition(" as ")
    if not head or not name.strip().isidentifier():
        raise SyntaxProblem("expected 'COLLECTION as NAME'", 0)
    return parse_term(head, names), name.strip()


def _plain(text: str) -> tuple[str, ...]:
    parser = Parser(Scanner(text), Names())
    steps = parser.plain_path()
    parser.end()
    if steps is None:
        raise SyntaxProblem("expected a plain argument path: expenseId, item.id", 0)
    return tuple(map(str, steps))


def _reference(node: Mapping[str, JsonValue], at: Ref, names: Names) -> Formula | None:
    """`{from: TOOL, path: PATH}` and `{term: EXPRESSION}` inside a `match:` tree."""
    if node.keys() == {"term"} and isinstance(node["term"], str):
        return Compare(at, "equals", parse_term(node["term"], names, at.scope))
    if node.keys() == {"from", "path"} and isinstance(node["from"], str) and isinstance(node["path"], str):
        tool = Scanner(node["from"]).text
        inner = names if tool in names.tools else replace(names, tools=names.tools | {tool})
        return Compare(at, "equals", parse_term(f'result("{tool}").{node["path"]}', inner, at.scope))
    return None


__all__ = ["Expect", "compile_expect"]
