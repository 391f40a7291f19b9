"""Which values a term has at one place in a run, and where they were seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.printing import show_term
from flowproof_runner.expectations.contract.resolution.aggregate import aggregated
from flowproof_runner.expectations.contract.resolution.bag import Bag, Found, Gap
from flowproof_runner.expectations.contract.resolution.by_term import ByTerm
from flowproof_runner.expectations.contract.resolution.dependence import outside
from flowproof_runner.expectations.contract.resolution.env import Env, Holds
from flowproof_runner.expectations.contract.resolution.narrowing import lookup
from flowproof_runner.expectations.contract.resolution.paths import Paths, only_wildcards, spreads
from flowproof_runner.expectations.contract.terms import (
    Aggregate,
    Arguments,
    Choose,
    Filter,
    Function,
    Literal,
    Ref,
    Results,
    Successor,
    Term,
    Union,
)
from flowproof_runner.expectations.contract.values import Key, key
from flowproof_runner.expectations.contract.view import Answer, View


@dataclass(slots=True)
class Sources:
    """Reads one view, and remembers what does not depend on the place."""

    view: View
    holds: Holds
    paths: Paths = field(init=False)
    _static: ByTerm[tuple[tuple[Answer, Bag], ...]] = field(default_factory=lambda: ByTerm())
    _values: ByTerm[Mapping[Key, list[Answer]]] = field(default_factory=lambda: ByTerm())
    _free: ByTerm[bool] = field(default_factory=lambda: ByTerm())
    _unfiltered: ByTerm[Results] = field(default_factory=lambda: ByTerm())
    _single: ByTerm[Results] = field(default_factory=lambda: ByTerm())

    def __post_init__(self) -> None:
        self.paths = Paths(self.holds, self.find)

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

    def collection(self, term: Term, env: Env) -> Found:
        """The values of a term of which the number or total is wanted: a list with no fitting element is empty."""
        found = self.find(term, env)
        if found.bags or not isinstance(term, Results):
            return found
        lists = self.find(self._unfiltered.of(term, lambda: unfiltered(term)), env)
        empty = tuple(Bag((), bag.seq, spread=True) for bag in lists.bags if bag.elements() is not None)
        return Found(empty) if empty and spreads(term.path) else found

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
        values = self.paths.walk(root, term.path, env)
        if values or spreads(term.path):
            return Found((Bag(values, seq, spreads(term.path)),))
        return Found((), (Gap("absent", f"{show_term(term)} has no value", seq),))

    def _results(self, term: Results, env: Env) -> Found:
        if term.merged:
            every = self._results(self._single.of(term, lambda: replace(term, merged=False)), env)
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
        return self._static.of(term, lambda: tuple(self._bags(term, replace(env, call=None))))

    def _bags(self, term: Results, env: Env) -> Iterator[tuple[Answer, Bag]]:
        for answer in self.view.answers.get(term.tool, ()):
            bag = self._bag(term, answer, env)
            if bag is not None:
                yield answer, bag

    def by_value(self, term: Results) -> Mapping[Key, list[Answer]]:
        """The answers behind each value a term has anywhere in the run."""
        return self._values.of(term, lambda: self._indexed(term))

    def _indexed(self, term: Results) -> Mapping[Key, list[Answer]]:
        index: dict[Key, list[Answer]] = defaultdict(list)
        for answer, bag in self._everywhere(term, Env()):
            for value in bag.values:
                index[key(value)].append(answer)
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
            if not self.holds(term.where, inner).holds:
                return None
        values = self.paths.walk((answer.value,), term.path, env)
        return Bag(values, answer.seq, spreads(term.path)) if values or only_wildcards(term.path) else None

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
            if term.where is None or self.holds(term.where, inner).holds:
                values += self.paths.walk((call.arguments,), term.path, env)
        return Found((Bag(tuple(values), None, spread=True),))

    def _aggregate(self, function: Function, of: Term, env: Env) -> Found:
        found = self.collection(of, env)
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

    def is_free(self, term: Term) -> bool:
        """True when a term has the same values everywhere, but for what was known when."""
        return self._free.of(term, lambda: not outside(term))


def unfiltered(term: Results) -> Results:
    """What the term's first filter chooses from."""
    place = next((n for n, step in enumerate(term.path) if isinstance(step, Filter)), len(term.path))
    return replace(term, path=term.path[:place])
