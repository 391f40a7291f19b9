"""What a term depends on: whether it has the same values everywhere in a run."""

from __future__ import annotations

from typing import assert_never

from flowproof_runner.expectations.contract.terms import (
    Aggregate,
    AllOf,
    AnyOf,
    Arguments,
    Choose,
    Compare,
    Filter,
    Formula,
    Literal,
    Not,
    Ref,
    Results,
    Step,
    Successor,
    Term,
    Union,
    Wildcard,
)


def outside(node: Term | Formula | Step | None, bound: frozenset[str] = frozenset()) -> bool:
    """True when a term reads something from the place it stands in: the call, an element, a variable.

    What the term itself binds (an element inside its own filter) does not count; values that depend on what was
    known at a place (another tool's answers inside a filter) do.
    """
    match node:
        case None | Literal() | Wildcard() | str() | int():
            return False
        case Ref(scope=scope, path=path):
            return (scope not in bound and scope != "out") or _steps_outside(path, bound)
        case Results(path=path, where=where):
            inner = bound | {"args", "result"}
            return bool(bound) or outside(where, inner) or _steps_outside(path, bound)
        case Arguments():
            return True
        case Aggregate(of=of) | Choose(of=of) | Successor(of=of):
            return outside(of, bound)
        case Union(terms=terms):
            return any(outside(term, bound) for term in terms)
        case Compare(left=left, right=right):
            return outside(left, bound) or outside(right, bound)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return any(outside(part, bound) for part in parts)
        case Not(part=part):
            return outside(part, bound)
        case Filter(condition=condition):
            return outside(condition, bound | {"item"})
        case _:
            assert_never(node)


def _steps_outside(path: tuple[Step, ...], bound: frozenset[str]) -> bool:
    return any(outside(step, bound) for step in path)
