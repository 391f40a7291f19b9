"""References that can never have a value."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_runner.expectations.contract.lint.facts import Facts, flat, problem
from flowproof_runner.expectations.contract.model import (
    AnyExpectation,
    Arguments,
    Calls,
    Confirmation,
    Each,
    Holds,
    Outcome,
    Precedence,
)
from flowproof_runner.expectations.contract.terms import AllOf, Compare, Formula, Ref, Results, Term
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
        if isinstance(expectation, Confirmation):
            yield from _asker(facts, expectation)
        yield from _no_call(expectation)


def _no_call(expectation: AnyExpectation) -> Iterator[Finding]:
    inside = (node for part in _outside(expectation) for node in nodes(part))
    if any(isinstance(node, Ref) and node.scope == "call" for node in inside):
        message = "$ is an argument of the call that is judged, and here no call is"
        yield problem(expectation, "lint.reference", message)


def _asker(facts: Facts, expectation: Confirmation) -> Iterator[Finding]:
    if expectation.by == expectation.tool:
        yield problem(expectation, "lint.reference", f"{expectation.tool} cannot be its own approval")
    elif expectation.by in facts.forbidden:
        yield problem(expectation, "lint.reference", f"{expectation.by} is forbidden, so it never answers")


def _tool(facts: Facts, expectation: AnyExpectation, term: Results) -> Iterator[Finding]:
    if term.tool in facts.forbidden:
        yield problem(expectation, "lint.reference", f"{term.tool} is forbidden, so it never answers")
        return
    ceiling = facts.ceiling.get(term.tool)
    if term.index is not None and ceiling is not None and term.index >= ceiling:
        yield problem(expectation, "lint.reference", f"{term.tool} answers at most {ceiling} times")


def _outside(expectation: AnyExpectation) -> tuple[Formula | Term | None, ...]:
    """The parts that are about the run as a whole, or about the answer of a tool that asks."""
    match expectation:
        case Calls(when=when, as_many_as=term):
            return (when, term)
        case Outcome(such=such, when=when) | Holds(such=such, when=when):
            return (such, when)
        case Confirmation(approves=approves):
            return (approves,)
        case Each(over=over):
            return (over,)
        case _:
            return ()


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
