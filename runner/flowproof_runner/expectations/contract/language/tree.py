"""A tree of expected values, as `match:` writes it, to one comparison for each leaf."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.terms import (
    Aggregate,
    Compare,
    Formula,
    Literal,
    Ref,
    Step,
    conjunction,
)

type Leaf = Callable[[Mapping[str, JsonValue], Ref], Formula | None]
"""Reads an object that stands for something else than itself; None if it is a plain object."""


def formula(tree: JsonValue, at: Ref, leaf: Leaf) -> Formula:
    """All comparisons of a tree with the value `at`: objects may have more keys, arrays may not be longer."""
    return conjunction(_formulas(tree, at, leaf))


def _formulas(tree: JsonValue, at: Ref, leaf: Leaf) -> list[Formula]:
    if isinstance(tree, dict):
        special = leaf(tree, at)
        if special is not None:
            return [special]
        parts = [part for name, value in tree.items() for part in _formulas(value, _step(at, name), leaf)]
        return parts or [Compare(at, "includes", Literal({}))]
    if isinstance(tree, list) and _has_special(tree, leaf, at):
        length = Compare(Aggregate("count", at), "equals", Literal(len(tree)))
        return [length, *(part for i, value in enumerate(tree) for part in _formulas(value, _step(at, i), leaf))]
    if isinstance(tree, list):
        return [Compare(at, "includes", Literal(tree))]
    return [Compare(at, "equals", Literal(tree))]


def _has_special(tree: JsonValue, leaf: Leaf, at: Ref) -> bool:
    if isinstance(tree, dict):
        return leaf(tree, at) is not None or any(_has_special(value, leaf, at) for value in tree.values())
    return isinstance(tree, list) and any(_has_special(value, leaf, at) for value in tree)


def _step(at: Ref, step: Step) -> Ref:
    return Ref(at.scope, (*at.path, step), at.name)
