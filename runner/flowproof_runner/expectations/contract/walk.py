"""Everything inside an expectation: its formulas and terms, however deep."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_runner.expectations.contract.model import (
    AnyExpectation,
    Arguments,
    Calls,
    Confirmation,
    Each,
    Holds,
    Outcome,
)
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

type Node = Formula | Term | Step


def reads_outcome(expectation: AnyExpectation) -> bool:
    """True when an expectation needs the run's structured outcome; its status alone does not."""
    if isinstance(expectation, Outcome) and (expectation.such is not None or expectation.schema is not None):
        return True
    return any(isinstance(node, Ref) and node.scope == "out" for node in nodes_of(expectation))


def nodes_of(expectation: AnyExpectation) -> Iterator[Node]:
    """Every formula and term of an expectation, bodies of a `for:` included."""
    match expectation:
        case Calls(such=such, as_many_as=term, when=when):
            yield from nodes(such)
            yield from nodes(term)
            yield from nodes(when)
        case Arguments(such=such, when=when) | Outcome(such=such, when=when) | Holds(such=such, when=when):
            yield from nodes(such)
            yield from nodes(when)
        case Confirmation(approves=approves, such=such):
            yield from nodes(approves)
            yield from nodes(such)
        case Each(over=over, body=body):
            yield from nodes(over)
            for inner in body:
                yield from nodes_of(inner)
        case _:
            return


def nodes(node: Node | None) -> Iterator[Node]:
    """A node and everything below it."""
    if node is None:
        return
    yield node
    for inner in _below(node):
        yield from nodes(inner)


def _below(node: Node) -> Iterator[Node | None]:
    match node:
        case Literal() | Wildcard() | str() | int():
            return
        case Ref(path=path):
            yield from path
        case Results(path=path, where=where) | CallArguments(path=path, where=where):
            yield where
            yield from path
        case Aggregate(of=of) | Choose(of=of) | Successor(of=of):
            yield of
        case Union(terms=terms):
            yield from terms
        case Compare(left=left, right=right):
            yield left
            yield right
        case AllOf(parts=parts) | AnyOf(parts=parts):
            yield from parts
        case Not(part=part):
            yield part
        case Filter(condition=condition):
            yield condition
