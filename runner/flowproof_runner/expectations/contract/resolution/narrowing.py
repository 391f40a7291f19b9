"""Equality as a lookup: which value a path must have, read off a condition before anything is gone through."""

from __future__ import annotations

from collections.abc import Callable

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.resolution.bag import Found
from flowproof_runner.expectations.contract.terms import AllOf, Compare, Formula, Ref, Results, Term
from flowproof_runner.expectations.contract.values import key
from flowproof_runner.expectations.contract.walk import nodes

type Find = Callable[[Term], Found]


def lookup(
    condition: Formula | None, scope: str, find: Find
) -> tuple[tuple[str | int, ...], tuple[JsonValue, ...]] | None:
    """`scope.path equals VALUE` among the parts that must all hold, with the values it may have."""
    parts = condition.parts if isinstance(condition, AllOf) else (condition,)
    for part in parts:
        if not isinstance(part, Compare) or part.operator != "equals" or part.negated:
            continue
        left, right = part.left, part.right
        if not isinstance(left, Ref) or left.scope != scope or not isinstance(right, Ref | Results):
            continue
        plain = tuple(step for step in left.path if isinstance(step, str | int))
        if len(plain) == len(left.path) and not _needs(right, scope):
            return plain, tuple({key(value): value for value in find(right).values()}.values())
    return None


def _needs(term: Term, scope: str) -> bool:
    """True when the term reads the given scope anywhere, so that it has no value before something is chosen."""
    scopes = (scope, "result") if scope == "args" else (scope,)
    return any(isinstance(node, Ref) and node.scope in scopes for node in nodes(term))
