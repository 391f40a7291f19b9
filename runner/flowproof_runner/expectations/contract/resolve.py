"""Terms and formulas over a run: which values a term has, and whether a formula holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.aggregate import aggregated
from flowproof_runner.expectations.contract.bag import HOLDS, Bag, Found, Gap, Miss, Truth
from flowproof_runner.expectations.contract.call import Call
from flowproof_runner.expectations.contract.compare import is_empty, suits
from flowproof_runner.expectations.contract.dependence import outside
from flowproof_runner.expectations.contract.narrowing import lookup
from flowproof_runner.expectations.contract.printing import show_formula, show_path, show_term
from flowproof_runner.expectations.contract.terms import (
    Aggregate,
    AllOf,
    AnyOf,
    Arguments,
    Choose,
    Compare,
    Filter,
    Formula,
    Function,
    Literal,
    Not,
    Ref,
    Results,
    Step,
    Successor,
    Term,
    Union,
    Wildcard,
)
from flowproof_runner.expectations.contract.values import Key, key
from flowproof_runner.expectations.contract.view import Answer, View, at


@dataclass(frozen=True, slots=True)
class Env:
    """What the scopes of a formula stand for at one place."""

    call: Call | None = None
    """The call under test; None: the whole run is known."""
    item: tuple[JsonValue, ...] = ()
    """The array element, as a tuple of one."""
    arguments: tuple[JsonValue, ...] = ()
    result: tuple[JsonValue, ...] = ()
    """Of the producing call."""
    each: Mapping[str, JsonValue] = field(default_factory=dict)
    strict: bool = False
    """Every part must be readable, also where another part decides: for conditions."""


@dataclass(slots=True)
class Resolver:
    """Evaluates against one view, and remembers what does not depend on the place."""

    view: View
    _static: dict[int, tuple[tuple[Answer, Bag], ...]] = field(default_factory=dict)
    _values: dict[int, Mapping[Key, list[Answer]]] = field(default_factory=dict)
    _elements: dict[tuple[int, tuple[Step, ...]], tuple[list[JsonValue], Mapping[Key, list[JsonValue]]]] = field(
        default_factory=dict
    )
    _free: dict[int, bool] = field(default_factory=dict)

    # formulas

    def truth(self, formula: Formula, env: Env) -> Truth:
        """Whether the formula holds at this place."""
        match formula:
            case Compare():
                return self._compare(formula, env)
            case AllOf(parts=parts):
                truths = [self.truth(part, env) for part in parts]
                return _joined([t for t in truths if env.strict or not t.holds], all(t.holds for t in truths))
            case AnyOf(parts=parts):
                return self._any(parts, env)
            case Not(part=part):
                inner = self.truth(part, env)
                if inner.gaps:
                    return Truth(False, (), inner.gaps)
                miss = Miss(f"not ({show_formula(part)})", "", (), None)
                return Truth(True, inner.misses if env.strict else ()) if not inner.holds else Truth(False, (miss,))
            case _:
                assert_never(formula)

    def _any(self, parts: Iterable[Formula], env: Env) -> Truth:
        failed: list[Truth] = []
        held = False
        for part in parts:
            truth = self.truth(part, env)
            held = held or truth.holds
            if truth.holds and not env.strict:
                return HOLDS
            failed.append(truth)
        return _joined(failed, held)

    def _compare(self, compare: Compare, env: Env) -> Truth:
        if (quick := self._quickly(compare, env)) is not None:
            return quick
        left = self.find(compare.left, env)
        if compare.right is None:
            return self._unary(compare, left)
        lefts = _sets(left) if compare.operator == "same set as" else left.values()
        if not lefts:
            return HOLDS if left.bags and left.bags[0].spread else self._no_left(compare, left, env)
        right = self.find(compare.right, env)
        if not right.bags:
            return Truth(False, (), right.gaps)
        suited = [value for value in lefts if not self._suits(compare, value, right)]
        if not suited:
            return HOLDS
        return Truth(False, (_miss(compare, suited[0], right),))

    def _quickly(self, compare: Compare, env: Env) -> Truth | None:
        """A hit among all answers of a tool by lookup; None where the long way is needed, as for any report."""
        right = compare.right
        if compare.operator not in ("equals", "in") or compare.negated or not isinstance(right, Results):
            return None
        if env.strict or right.merged or not self.is_free(right):
            return None
        left = self.find(compare.left, env).values()
        if len(left) != 1:
            return None
        answers = self._by_value(right).get(key(left[0]), ())
        call = env.call
        seen = bool(answers) if call is None else any(self.view.informs(answer, call) for answer in answers)
        return HOLDS if seen else None

    def _suits(self, compare: Compare, value: JsonValue, right: Found) -> bool:
        choice = compare.right.choice if isinstance(compare.right, Choose) else "any"
        term = compare.right.of if isinstance(compare.right, Choose) else compare.right
        loose = isinstance(term, Literal) and term.loose
        rights: Sequence[JsonValue] = right.values()
        if compare.operator == "same set as":
            rights = _sets(right)
        hits = [suits(compare.operator, value, each, loose=loose) for each in rights]
        if choice == "every":
            held = all(hits) and bool(hits)
        else:
            held = hits.count(True) == 1 if choice == "one" else any(hits)
        return held != compare.negated

    def _unary(self, compare: Compare, left: Found) -> Truth:
        values = left.values()
        if compare.operator == "is empty":
            spread = left.bags[0].spread if left.bags else False
            empty = not values if spread else is_empty(values[0]) if values else None
            if empty is None:
                gaps = left.gaps or (Gap("type", f"{show_term(compare.left)} is not an array, object or text"),)
                return Truth(False, (), gaps)
            held = empty != compare.negated
        else:
            held = (bool(values) == (compare.operator == "exists")) != compare.negated
        miss = Miss(_text(compare), show_term(compare.left), (), values[0] if values else None)
        return HOLDS if held else Truth(False, (miss,))

    def _no_left(self, compare: Compare, left: Found, env: Env) -> Truth:
        gaps = tuple(gap for gap in left.gaps if gap.kind != "absent")
        if gaps:
            return Truth(False, (), gaps)
        right = self.find(compare.right, env) if compare.right is not None else Found()
        miss = replace(_miss(compare, None, right), absent=True)
        return Truth(compare.negated, (miss,) if env.strict or not compare.negated else ())

    # terms

    def find(self, term: Term, env: Env) -> Found:
        """The values of a term at this place."""
        match term:
            case Literal(value=value):
                return Found((Bag((value,)),))
            case Ref():
                return self._ref(term, env)
            case Results():
                return self._results(term, env)
            case Arguments():
                return self._arguments(term, env)
            case Aggregate(function=function, of=of):
                return self._aggregate(function, of, env)
            case Choose(choice=choice, of=of):
                found = self.find(of, env)
                chosen = {"first": found.bags[:1], "latest": found.bags[-1:]}.get(choice, found.bags)
                return Found(chosen, found.gaps)
            case Successor():
                return self._successor(term, env)
            case Union(terms=terms):
                every = [self.find(each, env) for each in terms]
                bags = tuple(bag for found in every for bag in found.bags)
                return Found(bags, () if bags else tuple(gap for found in every for gap in found.gaps))
            case _:
                assert_never(term)

    def _ref(self, term: Ref, env: Env) -> Found:
        root: tuple[JsonValue, ...]
        seq: int | None = None
        match term.scope:
            case "call":
                root = (env.call.arguments,) if env.call is not None else ()
                seq = env.call.seq if env.call is not None else None
            case "out":
                if self.view.outcome is None:
                    return Found((), (Gap("outcome", "the run declared no structured outcome"),))
                root, seq = (self.view.outcome.output,), self.view.outcome.seq
            case "item":
                root = env.item
            case "args":
                root = env.arguments
            case "result":
                root = env.result
            case "each":
                root = (env.each[term.name],) if term.name in env.each else ()
            case _:
                assert_never(term.scope)
        values = self._walk(root, term.path, env)
        if values or _spreads(term.path):
            return Found((Bag(values, seq, _spreads(term.path)),))
        return Found((), (Gap("absent", f"{show_term(term)} has no value", seq),))

    def _results(self, term: Results, env: Env) -> Found:
        if term.merged:
            every = self._results(replace(term, merged=False), env)
            values = tuple(
                v for bag in every.bags for v in ((bag.elements() or bag.values) if bag.spread else bag.values)
            )
            return Found((Bag(values, None, spread=True),))
        if self.is_free(term):
            pairs: Sequence[tuple[Answer, Bag]] = self._everywhere(term, env)
            if env.call is not None:
                pairs = [pair for pair in pairs if self.view.informs(pair[0], env.call)]
            bags = tuple(bag for _, bag in pairs)
        else:
            bags = tuple(bag for answer in self._known(term, env) if (bag := self._bag(term, answer, env)))
        return Found(bags) if bags else Found((), (self._results_gap(term, env),))

    def _everywhere(self, term: Results, env: Env) -> tuple[tuple[Answer, Bag], ...]:
        """The term over every answer of the run: it depends on nothing else."""
        found = self._static.get(id(term))
        if found is None:
            answers = self.view.answers.get(term.tool, ())
            pairs = ((answer, self._bag(term, answer, replace(env, call=None))) for answer in answers)
            found = tuple((answer, bag) for answer, bag in pairs if bag is not None)
            self._static[id(term)] = found
        return found

    def _by_value(self, term: Results) -> Mapping[Key, list[Answer]]:
        index = self._values.get(id(term))
        if index is None:
            index = defaultdict(list)
            for answer, bag in self._everywhere(term, Env()):
                for value in bag.values:
                    index[key(value)].append(answer)
            self._values[id(term)] = index
        return index

    def _known(self, term: Results, env: Env) -> Iterable[Answer]:
        """The tool's answers that were known here, narrowed by lookup where the selector allows it."""
        answers: Iterable[Answer] = self.view.answers.get(term.tool, ())
        narrowed = lookup(term.where, "args", lambda right: self.find(right, env))
        if narrowed is not None:
            path, values = narrowed
            index = self.view.answers_by_argument(term.tool, path)
            answers = sorted((answer for v in values for answer in index.get(key(v), ())), key=lambda each: each.seq)
        call = env.call
        return answers if call is None else [answer for answer in answers if self.view.informs(answer, call)]

    def _bag(self, term: Results, answer: Answer, env: Env) -> Bag | None:
        if answer.is_error or (term.index is not None and answer.nth != term.index):
            return None
        if term.where is not None:
            inner = replace(env, arguments=(answer.call.arguments,), result=(answer.value,), item=(), strict=False)
            if not self.truth(term.where, inner).holds:
                return None
        values = self._walk((answer.value,), term.path, env)
        return Bag(values, answer.seq, _spreads(term.path)) if values or _only_wildcards(term.path) else None

    def _results_gap(self, term: Results, env: Env) -> Gap:
        answers = [a for a in self._known(replace(term, where=None), env) if not a.is_error]
        if not answers:
            return Gap("unanswered", f"no answer of {term.tool} was known")
        return Gap("filtered", f"{term.tool} answered, but nothing in it meets {show_term(term)}", answers[-1].seq)

    def _arguments(self, term: Arguments, env: Env) -> Found:
        values: list[JsonValue] = []
        for call in self.view.by_tool.get(term.tool, ()):
            if env.call is not None and call.seq >= env.call.seq:
                continue
            inner = replace(env, arguments=(call.arguments,), result=(), item=(), strict=False)
            if term.where is None or self.truth(term.where, inner).holds:
                values += self._walk((call.arguments,), term.path, env)
        return Found((Bag(tuple(values), None, spread=True),))

    def _aggregate(self, function: Function, of: Term, env: Env) -> Found:
        found = self.find(of, env)
        bags: list[Bag] = []
        gaps = list(found.gaps)
        for bag in found.bags:
            elements = bag.elements()
            value = None if elements is None else aggregated(function, elements)
            if value is None:
                gaps.append(Gap("type", f"{function} cannot be taken of {show_term(of)}", bag.seq))
            else:
                bags.append(Bag(value, bag.seq))
        return Found(tuple(bags), () if bags else tuple(gaps))

    def _successor(self, term: Successor, env: Env) -> Found:
        found = self.find(term.of, env)
        places = {key(value): place for place, value in enumerate(term.domain)}
        bags = []
        for bag in found.bags:
            moved = [places[key(value)] + term.offset for value in bag.values if key(value) in places]
            values = tuple(term.domain[place] for place in moved if 0 <= place < len(term.domain))
            if values:
                bags.append(Bag(values, bag.seq, bag.spread))
        gap = Gap("filtered", f"nothing stands {term.offset} after {show_term(term.of)} in the declared order")
        return Found(tuple(bags), () if bags else (found.gaps or (gap,)))

    # paths

    def _walk(self, roots: tuple[JsonValue, ...], path: tuple[Step, ...], env: Env) -> tuple[JsonValue, ...]:
        values = roots
        for step in path:
            match step:
                case str() | int():
                    values = tuple(inner for value in values for inner in at(value, (step,)))
                case Wildcard():
                    values = tuple(inner for value in values if isinstance(value, list) for inner in value)
                case Filter(condition=condition):
                    values = tuple(
                        inner
                        for value in values
                        if isinstance(value, list)
                        for inner in self._filtered(value, condition, env)
                    )
                case _:
                    assert_never(step)
            if not values:
                return ()
        return values

    def _filtered(self, array: list[JsonValue], condition: Formula, env: Env) -> list[JsonValue]:
        candidates = array
        narrowed = lookup(condition, "item", lambda right: self.find(right, env))
        if narrowed is not None:
            path, values = narrowed
            index = self._element_index(array, path)
            candidates = [element for value in values for element in index.get(key(value), ())]
        return [
            element
            for element in candidates
            if self.truth(condition, replace(env, item=(element,), strict=False)).holds
        ]

    def _element_index(self, array: list[JsonValue], path: tuple[str | int, ...]) -> Mapping[Key, list[JsonValue]]:
        cached = self._elements.get((id(array), path))
        if cached is None:
            index: dict[Key, list[JsonValue]] = defaultdict(list)
            for element in array:
                for value in at(element, path):
                    index[key(value)].append(element)
            cached = (array, index)  # the array is kept so that its id stays its own
            self._elements[id(array), path] = cached
        return cached[1]

    def is_free(self, term: Term | Formula) -> bool:
        """True when a term has the same values everywhere, but for what was known when."""
        free = self._free.get(id(term))
        if free is None:
            free = self._free[id(term)] = not outside(term)
        return free


def _joined(truths: list[Truth], holds: bool) -> Truth:
    misses = tuple(miss for truth in truths for miss in truth.misses)
    return Truth(holds, misses, tuple(gap for truth in truths for gap in truth.gaps))


def _miss(compare: Compare, actual: JsonValue, right: Found) -> Miss:
    expected = tuple((value, bag.seq) for bag in right.bags for value in bag.values)
    left = compare.left
    path = show_path(left.path) if isinstance(left, Ref) and left.path else show_term(left)
    return Miss(_text(compare), path, expected, actual)


def _text(compare: Compare) -> str:
    return show_formula(compare)


def _sets(found: Found) -> tuple[JsonValue, ...]:
    return tuple(list(elements) for bag in found.bags if (elements := bag.elements()) is not None)


def _spreads(path: tuple[Step, ...]) -> bool:
    return any(isinstance(step, Wildcard | Filter) for step in path)


def _only_wildcards(path: tuple[Step, ...]) -> bool:
    return _spreads(path) and not any(isinstance(step, Filter) for step in path)
