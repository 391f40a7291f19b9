"""Going down a path with wildcards and filters; elements that a filter names by a value are looked up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.resolution.bag import Found
from flowproof_runner.expectations.contract.resolution.env import Env, Holds
from flowproof_runner.expectations.contract.resolution.narrowing import lookup
from flowproof_runner.expectations.contract.terms import Filter, Formula, Step, Term, Wildcard
from flowproof_runner.expectations.contract.values import Key, key
from flowproof_runner.expectations.contract.view import at


@dataclass(slots=True)
class Paths:
    """Walks values, and remembers the elements of arrays by what they carry."""

    holds: Holds
    find: Callable[[Term, Env], Found]
    _elements: dict[tuple[int, tuple[Step, ...]], tuple[list[JsonValue], Mapping[Key, list[JsonValue]]]] = field(
        default_factory=dict
    )

    def walk(self, roots: tuple[JsonValue, ...], path: tuple[Step, ...], env: Env) -> tuple[JsonValue, ...]:
        """What stands at the path below any of the roots."""
        values = roots
        for step in path:
            match step:
                case str() | int():
                    values = tuple(inner for value in values for inner in at(value, (step,)))
                case Wildcard():
                    values = tuple(inner for value in values if isinstance(value, list) for inner in value)
                case Filter(condition=condition):
                    values = tuple(
                        inner
                        for value in values
                        if isinstance(value, list)
                        for inner in self._filtered(value, condition, env)
                    )
                case _:
                    assert_never(step)
            if not values:
                return ()
        return values

    def _filtered(self, array: list[JsonValue], condition: Formula, env: Env) -> list[JsonValue]:
        candidates = array
        narrowed = lookup(condition, "item", lambda right: self.find(right, env))
        if narrowed is not None:
            path, values = narrowed
            index = self._element_index(array, path)
            candidates = [element for value in values for element in index.get(key(value), ())]
        return [
            element
            for element in candidates
            if self.holds(condition, replace(env, item=(element,), strict=False)).holds
        ]

    def _element_index(self, array: list[JsonValue], path: tuple[str | int, ...]) -> Mapping[Key, list[JsonValue]]:
        cached = self._elements.get((id(array), path))
        if cached is None:
            index: dict[Key, list[JsonValue]] = defaultdict(list)
            for element in array:
                for value in at(element, path):
                    index[key(value)].append(element)
            cached = (array, index)  # the array is kept so that its id stays its own
            self._elements[id(array), path] = cached
        return cached[1]


def spreads(path: tuple[Step, ...]) -> bool:
    """True when a path leads to the elements of a collection, not to one value."""
    return any(isinstance(step, Wildcard | Filter) for step in path)


def only_wildcards(path: tuple[Step, ...]) -> bool:
    """True when a path leads to all elements of a collection, however few."""
    return spreads(path) and not any(isinstance(step, Filter) for step in path)
