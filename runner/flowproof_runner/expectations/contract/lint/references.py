"""References that can never have a value."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_runner.expectations.contract.lint.facts import Facts, flat, problem
from flowproof_runner.expectations.contract.model import AnyExpectation, Arguments, Precedence
from flowproof_runner.expectations.contract.terms import AllOf, Compare, Formula, Results
from flowproof_runner.expectations.contract.walk import nodes, nodes_of
from flowproof_runner.findings import Finding


def lint(facts: Facts) -> Iterator[Finding]:
    """References to tools that are forbidden, called too seldom, or only called later."""
    for expectation in flat(facts.contract):
        for term in nodes_of(expectation):
            if isinstance(term, Results):
                yield from _tool(facts, expectation, term)
        if isinstance(expectation, Arguments):
            yield from _too_late(facts, expectation)


def _tool(facts: Facts, expectation: AnyExpectation, term: Results) -> Iterator[Finding]:
    if term.tool in facts.forbidden:
        yield problem(expectation, "lint.reference", f"{term.tool} is forbidden, so it never answers")
        return
    ceiling = facts.ceiling.get(term.tool)
    if term.index is not None and ceiling is not None and term.index >= ceiling:
        yield problem(expectation, "lint.reference", f"{term.tool} answers at most {ceiling} times")


def _too_late(facts: Facts, expectation: Arguments) -> Iterator[Finding]:
    needed = {term.tool for part in _demanded(expectation.such) for term in nodes(part) if isinstance(term, Results)}
    for tool in sorted(needed):
        if tool == expectation.tool and expectation.call in (None, 0):
            yield problem(expectation, "lint.reference", f"the first call of {tool} has no earlier answer of its own")
        elif _placed_later(facts, tool, expectation.tool):
            yield problem(expectation, "lint.reference", f"{tool} is only called after {expectation.tool}")


def _demanded(formula: Formula | None) -> list[Formula]:
    """Comparisons that every call must meet and that need their right side."""
    match formula:
        case AllOf(parts=parts):
            return [inner for part in parts for inner in _demanded(part)]
        case Compare(negated=False):
            return [formula]
        case _:
            return []


def _placed_later(facts: Facts, tool: str, tested: str) -> bool:
    for order in facts.orders:
        if tool in order.tools and tested in order.tools:
            last = len(order.tools) - 1 - order.tools[::-1].index(tested)
            exact = facts.ceiling.get(tool) == order.tools.count(tool)
            if order.tools.index(tool) > last and exact:
                return True
    return any(
        e.before == tested and e.after == tool and not e.per
        for e in facts.contract.expectations
        if isinstance(e, Precedence)
    )
