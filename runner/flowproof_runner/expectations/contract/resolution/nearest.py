"""The nearest miss: which element a filter came closest to accepting, and what stood in the way."""

from __future__ import annotations

from dataclasses import replace

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.printing import show_formula
from flowproof_runner.expectations.contract.resolution.env import Env
from flowproof_runner.expectations.contract.resolution.resolver import Resolver
from flowproof_runner.expectations.contract.terms import (
    Aggregate,
    AllOf,
    AnyOf,
    Choose,
    Compare,
    Filter,
    Formula,
    Not,
    Results,
    Successor,
    Term,
    Union,
)
from flowproof_runner.expectations.contract.values import short
from flowproof_runner.findings import Nearest


def nearest(formula: Formula | None, resolver: Resolver, env: Env) -> Nearest | None:
    """The element that failed the fewest conditions, None where no filter is involved."""
    found = (_of_term(term, resolver, env) for term in _terms(formula))
    return next((each for each in found if each is not None), None)


def shown(near: Nearest) -> str:
    """The same in two lines."""
    return f"nearest: {short(near.value)} [evidence {near.seq}]\n  fails: {'; '.join(near.fails)}"


def _of_term(term: Results, resolver: Resolver, env: Env) -> Nearest | None:
    place = next((i for i, step in enumerate(term.path) if isinstance(step, Filter)), None)
    if place is None:
        return None
    filtered = term.path[place]
    assert isinstance(filtered, Filter)
    arrays = resolver.find(replace(term, path=term.path[:place]), env)
    condition = filtered.condition
    parts = condition.parts if isinstance(condition, AllOf) else (condition,)
    best: tuple[tuple[int, int], JsonValue, tuple[Formula, ...], int | None] | None = None
    for bag in arrays.bags:
        for element in bag.elements() or ():
            inner = replace(env, item=(element,), strict=False)
            failed = tuple(part for part in parts if not resolver.truth(part, inner).holds)
            # Whose record it is comes before what is wrong with it.
            distance = (sum(map(_identifies, failed)), len(failed))
            if best is None or distance < best[0]:
                best = (distance, element, failed, bag.seq)
    if best is None or not best[2]:
        return None
    _, element, failed, seq = best
    return Nearest(element, tuple(map(show_formula, failed)), seq)


def _identifies(part: Formula) -> bool:
    return isinstance(part, Compare) and part.operator == "equals"


def _terms(node: Formula | Term | None) -> list[Results]:
    match node:
        case Results():
            return [node]
        case Compare(left=left, right=right):
            return _terms(left) + _terms(right)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return [term for part in parts for term in _terms(part)]
        case Not(part=part):
            return _terms(part)
        case Union(terms=terms):
            return [found for term in terms for found in _terms(term)]
        case Aggregate(of=of) | Choose(of=of) | Successor(of=of):
            return _terms(of)
        case _:
            return []
