"""Reference nodes of version 0.1 (`$fromResult`, `$argument`, `$anyOf`, ...) to terms and formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language import tree
from flowproof_runner.expectations.contract.terms import (
    Aggregate,
    Compare,
    Filter,
    Formula,
    Literal,
    Operator,
    Ref,
    Results,
    Scope,
    Step,
    Successor,
    Term,
    conjunction,
    disjunction,
)

_COMPARISONS: dict[str, Operator] = {"$lessThan": "<", "$atMost": "<=", "$greaterThan": ">", "$atLeast": ">="}
_SPECIAL = frozenset({*_COMPARISONS, "$fromResult", "$fromOutcome", "$argument", "$anyOf"})
_KNOWN = frozenset("tool path callIndex where whereResult find select length sequence offset".split())


class ReferenceProblem(ValueError):
    """A reference node is not well formed."""


@dataclass(frozen=True, slots=True)
class References:
    """Reads reference nodes inside a tree about the call's arguments (`call`) or the outcome (`out`)."""

    scope: Scope

    def leaf(self, node: Mapping[str, JsonValue], at: Ref) -> Formula | None:
        """The comparison a node stands for, None if it is a plain object.

        Raises ReferenceProblem if it is a reference that says something impossible.
        """
        special = [name for name in node if name in _SPECIAL]
        if not special:
            return None
        name = special[0]
        if len(node) > 1:
            raise ReferenceProblem(f"{name} stands alone in its object")
        value = node[name]
        if name in _COMPARISONS:
            return Compare(at, _COMPARISONS[name], self._bound(value))
        match name:
            case "$fromResult":
                return Compare(at, "equals", self.result(value))
            case "$fromOutcome" | "$argument":
                return Compare(at, "equals", self._at_hand(name, value, at))
            case "$anyOf":
                return disjunction([self._branch(each, at) for each in _several(value)])
            case _:
                return None

    def result(self, node: JsonValue) -> Term:
        """The term of a `$fromResult`."""
        if not isinstance(node, dict):
            raise ReferenceProblem("$fromResult is an object with tool and path")
        unknown = node.keys() - _KNOWN
        if unknown:
            raise ReferenceProblem(f"$fromResult has no {', '.join(sorted(unknown))}")
        tool, path = _word(node.get("tool"), "tool"), _word(node.get("path"), "path")
        _exclude(node)
        where = [self._criteria(node[name], scope) for name, scope in _SELECTORS.items() if name in node]
        steps: tuple[Step, ...] = tuple(path.split("."))
        if "find" in node:
            steps = (*steps, Filter(self._criteria(node["find"], "item")))
            if "select" in node:
                steps = (*steps, *_word(node["select"], "select").split("."))
        results = Results(tool, steps, _index(node.get("callIndex")), conjunction(where) if where else None)
        if node.get("length"):
            return Aggregate("count", results)
        return _successor(node, results)

    def _criteria(self, node: JsonValue, scope: Scope) -> Formula:
        """`{path: criterion, $anyOf: [...]}`: all of them hold."""
        if not isinstance(node, dict) or not node:
            raise ReferenceProblem("where, whereResult and find need at least one criterion")
        parts = []
        for path, criterion in node.items():
            if path == "$anyOf":
                parts.append(disjunction([self._criteria(each, scope) for each in _several(criterion)]))
            else:
                parts.append(self._criterion(criterion, Ref(scope, tuple(path.split(".")))))
        return conjunction(parts)

    def _criterion(self, value: JsonValue, at: Ref) -> Formula:
        if isinstance(value, dict):
            special = self.leaf(value, at)
            if special is not None:
                return special
        return Compare(at, "equals", Literal(value))

    def _branch(self, value: JsonValue, at: Ref) -> Formula:
        return tree.formula(value, at, self.leaf)

    def _bound(self, value: JsonValue) -> Term:
        if isinstance(value, dict) and len(value) == 1:
            name, inner = next(iter(value.items()))
            if name == "$fromResult":
                return self.result(inner)
            if name in ("$argument", "$fromOutcome"):
                return self._at_hand(name, inner, None)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ReferenceProblem("a comparison needs a number, $argument, $fromResult or $fromOutcome")
        return Literal(value)

    def _at_hand(self, name: str, value: JsonValue, at: Ref | None) -> Ref:
        path = tuple(_word(value, name).split("."))
        if name == "$fromOutcome" and self.scope == "out":
            raise ReferenceProblem("$fromOutcome inside the outcome's own match would compare the report with itself")
        scope: Scope = "out" if name == "$fromOutcome" or self.scope == "out" else "call"
        if at is not None and (at.scope, at.path) == (scope, path):
            raise ReferenceProblem(f"{name}: {'.'.join(path)} compares a value with itself and always holds")
        return Ref(scope, path)


_SELECTORS: dict[str, Scope] = {"where": "args", "whereResult": "result"}


def _exclude(node: Mapping[str, JsonValue]) -> None:
    if "callIndex" in node and ("where" in node or "whereResult" in node):
        raise ReferenceProblem("callIndex excludes where and whereResult")
    if "select" in node and "find" not in node:
        raise ReferenceProblem("select needs find")
    if "length" in node and not isinstance(node["length"], bool):
        raise ReferenceProblem("length is true or false")
    if node.get("length") and "sequence" in node:
        raise ReferenceProblem("length excludes sequence")
    if "offset" in node and "sequence" not in node:
        raise ReferenceProblem("offset needs sequence")


def _successor(node: Mapping[str, JsonValue], results: Results) -> Term:
    if "sequence" not in node:
        return results
    domain, offset = node["sequence"], node.get("offset", 1)
    if not isinstance(domain, list) or not domain:
        raise ReferenceProblem("sequence is a list that is not empty")
    if isinstance(offset, bool) or not isinstance(offset, int):
        raise ReferenceProblem("offset is a whole number")
    return Successor(results, tuple(domain), offset)


def _index(value: JsonValue) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ReferenceProblem("callIndex is a whole number from 0")
    return value


def _word(value: JsonValue, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise ReferenceProblem(f"{name} is text that is not empty")
    return value


def _several(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list) or len(value) < 2:
        raise ReferenceProblem("$anyOf is a list of two or more")
    return value
