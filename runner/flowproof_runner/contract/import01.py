"""`expect:` of version 0.1 to the one AST: every construct has exactly one target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.expect01 import Arguments01, Condition, ConditionalTool, Expect01, Precedence01
from flowproof_runner.contract.references import ReferenceProblem, References
from flowproof_runner.expectations.contract.language import tree
from flowproof_runner.expectations.contract.model import (
    AnyExpectation,
    Arguments,
    Calls,
    Confirmation,
    Contract,
    Order,
    Outcome,
    Precedence,
)
from flowproof_runner.expectations.contract.schema import schema_problem
from flowproof_runner.expectations.contract.terms import (
    Aggregate,
    Compare,
    Formula,
    Literal,
    Ref,
    Scope,
    disjunction,
)
from flowproof_runner.reading.problems import Complaint, Loc


def import_expect(expect: Expect01, where: Callable[[Loc], str]) -> tuple[Contract, tuple[Complaint, ...]]:
    """The contract, with everything wrong in it located from `expect` on."""
    importer = _Importer(where)
    return Contract(expectations=tuple(importer.all(expect))), tuple(importer.complaints)


@dataclass
class _Importer:
    where: Callable[[Loc], str]
    complaints: list[Complaint] = field(default_factory=list)

    def all(self, expect: Expect01) -> Iterator[AnyExpectation]:
        """Every expectation, in the order in which version 0.1 reports findings."""
        yield from self._tools(expect)
        if expect.confirmation is not None:
            for place, tool in enumerate(expect.confirmation.requiredBefore):
                bound = expect.confirmation.bindArguments
                yield self._at(Confirmation(tool=tool, bound=bound), "confirmation", "requiredBefore", place)
        yield from self._outcome(expect)

    def _tools(self, expect: Expect01) -> Iterator[AnyExpectation]:
        tools = expect.tools
        for place, entry in enumerate(tools.required):
            yield self._at(self._required(entry), "tools", "required", place)
        for place, tool in enumerate(tools.forbidden):
            yield self._at(Calls(tools=(tool,), at_most=0, kind="forbidden"), "tools", "forbidden", place)
        if tools.maxCalls is not None:
            yield self._at(Calls(at_most=tools.maxCalls, at="request"), "tools", "maxCalls")
        for place, budget in enumerate(tools.budgets or ()):
            named = (budget.tool,)
            if budget.minCalls is not None or budget.maxCalls is not None:
                bounds = Calls(tools=named, at_least=budget.minCalls, at_most=budget.maxCalls, at="request")
                yield self._at(bounds, "tools", "budgets", place)
            if budget.callsMatchOutcome is not None:
                wanted = Aggregate("count", _out(budget.callsMatchOutcome))
                yield self._at(Calls(tools=named, as_many_as=wanted, at="request"), "tools", "budgets", place)
        for place, precedence in enumerate(tools.precedence or ()):
            yield self._at(self._precedence(precedence, place), "tools", "precedence", place)
        if tools.order:
            yield self._at(Order(tools=tools.order), "tools", "order")
        for place, arguments in enumerate(tools.arguments):
            yield from self._arguments(arguments, place)

    def _required(self, entry: str | ConditionalTool) -> Calls:
        if isinstance(entry, str):
            return Calls(tools=(entry,), at_least=1, kind="required", at="request")
        when = _condition(entry.when)
        return Calls(tools=(entry.tool,), at_least=1, when=when, only_when=True, kind="required", at="request")

    def _precedence(self, entry: Precedence01, place: int) -> Precedence:
        if entry.correlate is not None and entry.scope is not None:
            self._complain("correlate and scope exclude each other", "tools", "precedence", place)
        per = tuple(tuple(path.split(".")) for path in entry.correlate or ())
        scope = "first" if per else entry.scope or "all"
        return Precedence(before=entry.before, after=entry.after, scope=scope, per=per, required=not per)

    def _arguments(self, entry: Arguments01, place: int) -> Iterator[Arguments]:
        loc = ("tools", "arguments", place)
        base = Arguments(tool=entry.tool, call=entry.callIndex)
        if entry.match is not None:
            such = self._tree(entry.match, "call", (*loc, "match"))
            if such is not None:
                yield self._at(replace(base, such=such), *loc)
        if entry.schema_ is not None:
            self._check_schema(entry.schema_, (*loc, "schema"))
            yield self._at(replace(base, schema=entry.schema_), *loc)
        if entry.distinct is not None:
            yield self._at(replace(base, distinct=tuple(tuple(path.split(".")) for path in entry.distinct)), *loc)
        if entry.match is None and entry.schema_ is None and entry.distinct is None:
            yield self._at(base, *loc)

    def _outcome(self, expect: Expect01) -> Iterator[Outcome]:
        outcome = expect.outcome
        if outcome is None:
            return
        yield self._at(Outcome(status=outcome.status), "outcome", "status")
        if "match" in outcome.model_fields_set:
            such = self._tree(outcome.match, "out", ("outcome", "match"))
            if such is not None:
                yield self._at(Outcome(such=such), "outcome", "match")
        for place, entry in enumerate(outcome.when or ()):
            such = self._tree(entry.match, "out", ("outcome", "when", place, "match"))
            if such is not None:
                yield self._at(Outcome(such=such, when=_condition(entry.when)), "outcome", "when", place)
        if outcome.schema_ is not None:
            self._check_schema(outcome.schema_, ("outcome", "schema"))
            yield self._at(Outcome(schema=outcome.schema_), "outcome", "schema")

    def _tree(self, value: JsonValue, scope: Scope, loc: Loc) -> Formula | None:
        try:
            return tree.formula(value, Ref(scope), References(scope).leaf)
        except ReferenceProblem as problem:
            self._complain(str(problem), *loc)
            return None

    def _check_schema(self, schema: JsonValue, loc: Loc) -> None:
        problem = schema_problem(schema)
        if problem is not None:
            self._complain(f"not a JSON Schema: {problem}", *loc)

    def _complain(self, message: str, *loc: str | int) -> None:
        self.complaints.append(Complaint(message, ("expect", *loc)))

    def _at[E: AnyExpectation](self, expectation: E, *loc: str | int) -> E:
        words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc).removeprefix(".")
        return replace(expectation, id=words, where=self.where(("expect", *loc)))


def _condition(condition: Condition) -> Formula:
    if condition.any_of is not None:
        return disjunction([_condition(each) for each in condition.any_of])
    assert condition.outcomePath is not None
    value = _out(condition.outcomePath)
    if condition.nonEmpty:
        return Compare(Aggregate("count", value), ">", Literal(0))
    return Compare(value, "equals", Literal(condition.equals))


def _out(path: str) -> Ref:
    return Ref("out", tuple(path.split(".")))
