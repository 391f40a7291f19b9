"""Orders that contradict one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from flowproof_runner.expectations.contract.lint.facts import Facts, problem
from flowproof_runner.expectations.contract.model import Order, Precedence
from flowproof_runner.findings import Finding


def lint(facts: Facts) -> Iterator[Finding]:
    """Self-precedence, duplicates, cycles of any length, and orders that break a precedence."""
    found = [e for e in facts.contract.expectations if isinstance(e, Precedence)]
    seen: set[tuple[object, ...]] = set()
    for expectation in found:
        same = (expectation.before, expectation.after, expectation.scope, expectation.per)
        if expectation.before == expectation.after and not expectation.per:
            yield problem(expectation, "lint.precedence", "a tool cannot come before itself")
        if same in seen:
            yield problem(expectation, "lint.precedence", "is stated twice")
        seen.add(same)
        if len(set(expectation.per)) < len(expectation.per):
            yield problem(expectation, "lint.precedence", "names a path twice")
        if expectation.before in facts.forbidden and not expectation.per:
            yield problem(expectation, "lint.precedence", f"{expectation.before} is forbidden")
        yield from _against_orders(facts, expectation)
    yield from _cycles([*_edges(found), *_ordered(facts)])


def _against_orders(facts: Facts, expectation: Precedence) -> Iterator[Finding]:
    """`all` says that no `before` may follow an `after`: an order that lists them so can never be met."""
    if expectation.per:
        return
    for order in facts.orders:
        if expectation.before in order.tools and expectation.after in order.tools:
            last = len(order.tools) - 1 - order.tools[::-1].index(expectation.before)
            first_before, first_after = map(order.tools.index, (expectation.before, expectation.after))
            exact = facts.ceiling.get(expectation.before) == order.tools.count(expectation.before)
            if (expectation.scope == "all" and last > first_after) or (exact and first_before > first_after):
                yield problem(expectation, "lint.precedence", f"contradicts the order {' then '.join(order.tools)}")


@dataclass(frozen=True, slots=True)
class _Edge:
    """One tool has to come before another."""

    before: str
    after: str
    source: Precedence | Order


def _edges(found: Sequence[Precedence]) -> Iterator[_Edge]:
    return (_Edge(e.before, e.after, e) for e in found if not e.per and e.before != e.after)


def _ordered(facts: Facts) -> Iterator[_Edge]:
    """An order places tools against each other where each is called but once."""
    for order in facts.orders:
        for before, after in pairwise(order.tools):
            if before != after and facts.ceiling.get(before) == facts.ceiling.get(after) == 1:
                yield _Edge(before, after, order)


def _cycles(edges: Sequence[_Edge]) -> Iterator[Finding]:
    after: dict[str, list[_Edge]] = {}
    for edge in edges:
        after.setdefault(edge.before, []).append(edge)
    reported: set[frozenset[str]] = set()
    for edge in edges:
        path = _way_back(edge.after, edge.before, after)
        if path is None or frozenset(path) in reported:
            continue
        reported.add(frozenset(path))
        yield problem(edge.source, "lint.cycle", f"closes a circle: {' before '.join((*path, path[0]))}")


def _way_back(start: str, goal: str, after: Mapping[str, list[_Edge]]) -> tuple[str, ...] | None:
    """Tools on a way from start to goal, goal first; None if there is none."""
    ways: list[tuple[str, ...]] = [(goal, start)]
    seen = {start}
    while ways:
        way = ways.pop(0)
        if way[-1] == goal:
            return way[:-1]
        for edge in after.get(way[-1], ()):
            if edge.after == goal:
                return way
            if edge.after not in seen:
                seen.add(edge.after)
                ways.append((*way, edge.after))
    return None
