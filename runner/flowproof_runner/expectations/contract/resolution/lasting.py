"""What a beginning of a run settles: a condition that holds of it and that nothing which follows can undo."""

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
)


def lasting(formula: Formula | None) -> bool:
    """True when a condition on the run as a whole that holds of a beginning holds of the whole run too."""
    match formula:
        case None:
            return True
        case Compare(left=left, operator="exists", negated=False):
            return growing(left)
        case Compare(left=left, right=right, operator=operator, negated=negated):
            monotone = not negated and operator not in ("is absent", "is empty", "same set as")
            return _fixed(left) and (right is None or _fixed(right) or (monotone and growing(right)))
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return all(map(lasting, parts))
        case Not(part=part):
            return _unchanging(part)
        case _:
            assert_never(formula)


def growing(term: Term) -> bool:
    """True when values that a term has in a beginning stay among its values."""
    match term:
        case Results(path=path, where=where) | Arguments(path=path, where=where):
            return lasting(where) and all(lasting(step.condition) for step in path if isinstance(step, Filter))
        case Aggregate(function="distinct", of=of):
            return growing(of)
        case Aggregate(of=Results(merged=False, path=path, where=where)):
            return lasting(where) and not any(isinstance(step, Filter) for step in path)
        case Union(terms=terms):
            return all(map(growing, terms))
        case _:
            return _fixed(term)


def _fixed(term: Term) -> bool:
    """True when a term that has a value keeps it. The outcome has none before the end."""
    match term:
        case Literal():
            return True
        case Ref(path=path):
            return all(map(_fixed_step, path))
        case Results(path=path, where=where, index=index, merged=merged):
            known = index is not None and not merged
            return known and (where is None or _unchanging(where)) and all(map(_fixed_step, path))
        case Choose(choice="first", of=Results(path=path, where=where, merged=False)):
            return (where is None or _unchanging(where)) and all(map(_fixed_step, path))
        case Aggregate(of=of) | Successor(of=of) | Choose(of=of):
            return _fixed(of)
        case Union(terms=terms):
            return all(map(_fixed, terms))
        case Arguments():
            return False
        case _:
            assert_never(term)


def _fixed_step(step: Step) -> bool:
    return not isinstance(step, Filter) or _unchanging(step.condition)


def _unchanging(formula: Formula) -> bool:
    match formula:
        case Compare(left=left, right=right):
            return _fixed(left) and (right is None or _fixed(right))
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return all(map(_unchanging, parts))
        case Not(part=part):
            return _unchanging(part)
        case _:
            assert_never(formula)
