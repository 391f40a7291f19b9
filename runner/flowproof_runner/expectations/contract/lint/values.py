"""Conditions that are always true, never true, or cannot be evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.printing import show_formula
from flowproof_runner.expectations.contract.lint.facts import Facts, flat, problem
from flowproof_runner.expectations.contract.model import AnyExpectation, Arguments, Outcome
from flowproof_runner.expectations.contract.schema import valid
from flowproof_runner.expectations.contract.terms import AllOf, Compare, Formula, Literal, Ref, Results
from flowproof_runner.expectations.contract.terms import Arguments as CallArguments
from flowproof_runner.expectations.contract.walk import nodes, nodes_of
from flowproof_runner.findings import Finding
from flowproof_runner.matchers.matchers import equal


def lint(facts: Facts) -> Iterator[Finding]:
    """Self-comparisons, constant conditions, bad expressions, values the schema beside them forbids."""
    for expectation in flat(facts.contract):
        for node in nodes_of(expectation):
            if isinstance(node, Compare):
                yield from _comparison(expectation, node)
        when = getattr(expectation, "when", None)
        if when is not None and not any(isinstance(node, Ref | Results | CallArguments) for node in nodes(when)):
            yield problem(expectation, "lint.condition", "the condition reads nothing of the run")
    yield from _statuses(facts)
    yield from _schemas(facts)
    yield from _literal_pairs(facts)


def _comparison(expectation: AnyExpectation, compare: Compare) -> Iterator[Finding]:
    if compare.right is not None and compare.left == compare.right:
        yield problem(expectation, "lint.self", f"{show_formula(compare)} compares a value with itself")
    if compare.operator == "matches" and isinstance(compare.right, Literal):
        try:
            re.compile(str(compare.right.value))
        except re.error as error:
            yield problem(expectation, "lint.pattern", f"{compare.right.value!r} is no regular expression ({error})")
    if compare.operator in ("<", "<=", ">", ">=") and isinstance(compare.right, Literal):
        bound = compare.right.value
        if isinstance(bound, bool) or not isinstance(bound, int | float):
            yield problem(expectation, "lint.bound", f"{show_formula(compare)} needs a number")


def _statuses(facts: Facts) -> Iterator[Finding]:
    said = [
        e for e in facts.contract.expectations if isinstance(e, Outcome) and e.status is not None and e.when is None
    ]
    for expectation in said[1:]:
        if expectation.status != said[0].status:
            yield problem(expectation, "lint.status", f"another expectation wants status {said[0].status!r}")


def _schemas(facts: Facts) -> Iterator[Finding]:
    """A literal that the schema of the same thing forbids: no call could meet both."""
    found = [e for e in facts.contract.expectations if isinstance(e, Arguments | Outcome) and e.when is None]
    for expectation in found:
        for other in found:
            if other.schema is None or _subject(other) != _subject(expectation):
                continue
            for path, value in _literals(expectation.such):
                inner = _at(other.schema, path)
                if inner is not None and not valid(inner, value):
                    message = f"{'.'.join(map(str, path))} must be {value!r}, which the schema forbids"
                    yield problem(expectation, "lint.schema", message)


def _literal_pairs(facts: Facts) -> Iterator[Finding]:
    """One value that must be two things at once."""
    wanted: dict[object, JsonValue] = {}
    for expectation in facts.contract.expectations:
        if not isinstance(expectation, Arguments | Outcome) or expectation.when is not None:
            continue
        for path, value in _literals(expectation.such):
            place = (_subject(expectation), path)
            other = wanted.setdefault(place, value)
            if not equal(other, value):
                message = f"{'.'.join(path)} must be {other!r} elsewhere"
                yield problem(expectation, "lint.values", message)


def _subject(expectation: Arguments | Outcome) -> tuple[object, ...]:
    return (expectation.tool, expectation.call) if isinstance(expectation, Arguments) else ("outcome",)


def _literals(formula: Formula | None) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    match formula:
        case AllOf(parts=parts):
            for part in parts:
                yield from _literals(part)
        case Compare(
            left=Ref(scope="call" | "out", path=path),
            operator="equals",
            right=Literal(value=value, loose=False),
            negated=False,
        ):
            if all(isinstance(step, str) for step in path):
                yield tuple(map(str, path)), value


def _at(schema: JsonValue, path: tuple[str, ...]) -> dict[str, JsonValue] | None:
    for step in path:
        properties = schema.get("properties") if isinstance(schema, dict) else None
        schema = properties.get(step) if isinstance(properties, dict) else None
    return schema if isinstance(schema, dict) and "$ref" not in schema else None
