"""Whether a formula holds at one place in a run, and if not, what failed or could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.printing import show_formula, show_path, show_term
from flowproof_runner.expectations.contract.resolution.bag import HOLDS, Found, Gap, Miss, Truth
from flowproof_runner.expectations.contract.resolution.compare import is_empty, suits
from flowproof_runner.expectations.contract.resolution.env import Env
from flowproof_runner.expectations.contract.resolution.sources import Sources
from flowproof_runner.expectations.contract.terms import (
    AllOf,
    AnyOf,
    Choose,
    Compare,
    Formula,
    Literal,
    Not,
    Ref,
    Results,
    Term,
)
from flowproof_runner.expectations.contract.values import key
from flowproof_runner.expectations.contract.view import View


@dataclass(slots=True)
class Resolver:
    """Evaluates conditions against one view."""

    view: View
    sources: Sources = field(init=False)

    def __post_init__(self) -> None:
        self.sources = Sources(self.view, self.truth)

    def find(self, term: Term, env: Env) -> Found:
        """The values of a term at this place."""
        return self.sources.find(term, env)

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
        left = self.sources.find(compare.left, env)
        if compare.right is None:
            return self._unary(compare, left)
        lefts = _sets(left) if compare.operator == "same set as" else left.values()
        if not lefts:
            return HOLDS if left.bags and left.bags[0].spread else self._no_left(compare, left, env)
        right = self.sources.find(compare.right, env)
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
        if env.strict or right.merged or not self.sources.is_free(right):
            return None
        left = self.sources.find(compare.left, env).values()
        if len(left) != 1:
            return None
        answers = self.sources.by_value(right).get(key(left[0]), ())
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
        right = self.sources.find(compare.right, env) if compare.right is not None else Found()
        miss = replace(_miss(compare, None, right), absent=True)
        return Truth(compare.negated, (miss,) if env.strict or not compare.negated else ())


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
