"""Scalars inside JSON values: where they are, what else they could plausibly be, and how to put one in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.values import key, type_name

type Path = tuple[str | int, ...]


def leaves(value: JsonValue, path: Path = ()) -> Iterator[tuple[Path, JsonValue]]:
    """Every scalar with its path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path, value


def arrays(value: JsonValue, path: Path = ()) -> Iterator[tuple[Path, list[JsonValue]]]:
    """Every array with its path, outer ones first."""
    if isinstance(value, list):
        yield path, value
    items: Sequence[tuple[str | int, JsonValue]] = ()
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for name, inner in items:
        yield from arrays(inner, (*path, name))


def put(value: JsonValue, path: Path, new: JsonValue) -> JsonValue:
    """A copy with another value at the path."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, dict) and isinstance(step, str):
        return {**value, step: put(value.get(step), rest, new)}
    if isinstance(value, list) and isinstance(step, int):
        return [put(inner, rest, new) if place == step else inner for place, inner in enumerate(value)]
    return value


def remove(value: JsonValue, path: Path) -> JsonValue:
    """A copy without the member at the path."""
    head, *rest = path
    if rest:
        return put(value, (head,), remove(_child(value, head), tuple(rest)))
    if isinstance(value, dict):
        return {name: inner for name, inner in value.items() if name != head}
    return value


def family(value: JsonValue) -> str:
    """What kind of thing a scalar is: values of one family can be mistaken for one another."""
    if not isinstance(value, str):
        return type_name(value)
    if "@" in value:
        return "address"
    shape = re.sub(r"[A-Z]+", "A", re.sub(r"[a-z]+", "a", re.sub(r"\d+", "9", value)))
    return f"text {shape}" if re.search(r"\d", value) else "words" if " " in value else "word"


def substitute(value: JsonValue, path: Path, pool: Sequence[tuple[Path, JsonValue]]) -> JsonValue:
    """Another value seen in the run that this one could be confused with; the value itself if there is none.

    Preferred: the same key elsewhere, then the same family, then the same type.
    """
    last = next((step for step in reversed(path) if isinstance(step, str)), None)
    others = [(at, other) for at, other in pool if key(other) != key(value) and type_name(other) == type_name(value)]
    same_key = [other for at, other in others if last in at and family(other) == family(value)]
    same_family = [other for _, other in others if family(other) == family(value)]
    for choice in (same_key, same_family, [other for _, other in others]):
        if choice:
            return choice[0]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}-x" if isinstance(value, str) else value


def _child(value: JsonValue, step: str | int) -> JsonValue:
    if isinstance(value, dict):
        return value.get(str(step))
    return value[step] if isinstance(value, list) and isinstance(step, int) else None
