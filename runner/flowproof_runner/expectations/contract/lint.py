"""What is wrong with a contract before anything runs."""

from __future__ import annotations

from flowproof_runner.expectations.contract.model import AnyExpectation, Arguments, Calls, Each, Outcome
from flowproof_runner.expectations.contract.terms import (
    Aggregate,
    AllOf,
    AnyOf,
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
from flowproof_runner.expectations.contract.terms import Arguments as CallArguments


def reads_outcome(expectation: AnyExpectation) -> bool:
    """True when an expectation needs the run's structured outcome (its status alone does not)."""
    match expectation:
        case Outcome(such=such, schema=schema, when=when):
            return schema is not None or _reads(such) or _reads(when) or such is not None
        case Calls(such=such, as_many_as=term, when=when):
            return _reads(such) or _reads(term) or _reads(when)
        case Arguments(such=such, when=when):
            return _reads(such) or _reads(when)
        case Each(over=over, body=body):
            return _reads(over) or any(map(reads_outcome, body))
        case _:
            return False


def _reads(node: Formula | Term | Step | None) -> bool:
    match node:
        case Ref(scope="out"):
            return True
        case None | Literal() | Wildcard() | str() | int():
            return False
        case Ref(path=path):
            return any(map(_reads, path))
        case Results(path=path, where=where) | CallArguments(path=path, where=where):
            return _reads(where) or any(map(_reads, path))
        case Aggregate(of=of) | Choose(of=of) | Successor(of=of):
            return _reads(of)
        case Union(terms=terms):
            return any(map(_reads, terms))
        case Compare(left=left, right=right):
            return _reads(left) or _reads(right)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return any(map(_reads, parts))
        case Not(part=part):
            return _reads(part)
        case Filter(condition=condition):
            return _reads(condition)
