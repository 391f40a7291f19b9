"""Numbers that cannot all hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from flowproof_runner.expectations.contract.lint.facts import Facts, flat, problem
from flowproof_runner.expectations.contract.model import Arguments, Budget, Calls, Order
from flowproof_runner.findings import Finding


def lint(facts: Facts) -> Iterator[Finding]:
    """Contradictions among how often things are called."""
    yield from _forbidden(facts)
    yield from _bounds(facts)
    yield from _total(facts)
    yield from _groups(facts)
    yield from _twice(facts)
    for expectation in flat(facts.contract):
        match expectation:
            case Calls(at_least=int(floor), at_most=int(ceiling)) if floor > ceiling:
                yield problem(expectation, "lint.bounds", "asks for more than it allows")
            case Arguments():
                yield from _arguments(facts, expectation)
            case Budget(turns=None, tokens=None, duration_ms=None):
                yield problem(expectation, "lint.empty", "bounds nothing")


def _forbidden(facts: Facts) -> Iterator[Finding]:
    for tool in facts.forbidden.keys() & facts.required.keys():
        yield problem(facts.required[tool], "lint.forbidden", f"{tool} is also forbidden")


def _bounds(facts: Facts) -> Iterator[Finding]:
    for tool in sorted((facts.floor.keys() & facts.ceiling.keys()) - facts.forbidden.keys()):
        if facts.floor[tool] > facts.ceiling[tool]:
            message = f"{tool} must be called {facts.floor[tool]} times and may be called {facts.ceiling[tool]} times"
            yield problem(facts.required[tool], "lint.bounds", message)


def _total(facts: Facts) -> Iterator[Finding]:
    needed = max(sum(facts.floor.values()), facts.total_floor)
    if facts.total is not None and needed > facts.total:
        expectation = next(
            e for e in facts.contract.expectations if isinstance(e, Calls) and not e.tools and e.at_most == facts.total
        )
        yield problem(expectation, "lint.total", f"at least {needed} calls are demanded elsewhere")


def _groups(facts: Facts) -> Iterator[Finding]:
    """`exactly 2 of a, b` where a and b may be called once between them."""
    for e in facts.contract.expectations:
        if isinstance(e, Calls) and len(e.tools) > 1 and e.at_least and e.when is None:
            ceilings = [facts.ceiling.get(tool) for tool in dict.fromkeys(e.tools)]
            known = [each for each in ceilings if each is not None]
            if len(known) == len(ceilings) and sum(known) < e.at_least:
                yield problem(e, "lint.bounds", f"these may be called {sum(known)} times in all")


def _twice(facts: Facts) -> Iterator[Finding]:
    """One tool's obligation stated twice is usually one of them forgotten, and the plain one makes the other void."""
    named = [
        (e.tools[0], e)
        for e in facts.contract.expectations
        if isinstance(e, Calls) and e.only_when and len(e.tools) == 1 and e.such is None
    ]
    counted = Counter(tool for tool, _ in named)
    for tool, expectation in named:
        if counted[tool] > 1:
            yield problem(expectation, "lint.twice", f"{tool} is conditional on two conditions; join them with 'or'")
        if tool in facts.required and not isinstance(facts.required[tool], Order):
            yield problem(expectation, "lint.twice", f"{tool} is also demanded without condition")
        if tool in facts.forbidden:
            yield problem(expectation, "lint.forbidden", f"{tool} is also forbidden")


def _arguments(facts: Facts, expectation: Arguments) -> Iterator[Finding]:
    ceiling = facts.ceiling.get(expectation.tool)
    if expectation.call is not None and ceiling is not None and expectation.call >= ceiling:
        yield problem(expectation, "lint.call", f"{expectation.tool} is called at most {ceiling} times")
    if expectation.distinct and expectation.call is not None:
        yield problem(expectation, "lint.distinct", "one call alone is always distinct")
    elif expectation.distinct and ceiling is not None and ceiling < 2:
        yield problem(expectation, "lint.distinct", f"with at most {ceiling} calls there is nothing to tell apart")
    if len(set(expectation.distinct)) < len(expectation.distinct):
        yield problem(expectation, "lint.distinct", "names a path twice")
    if (
        expectation.such is None
        and expectation.schema is None
        and not expectation.distinct
        and expectation.call is None
    ):
        yield problem(expectation, "lint.empty", "demands nothing")
