"""JSON pointers (RFC 6901) and the values they point at."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flowproof_addons.trace.model import JsonValue

type Path = tuple[str | int, ...]
"""Object keys and list indexes, from the root down."""

_INDEX = re.compile(r"0|[1-9][0-9]{0,17}")


def pointer(path: Path) -> str:
    """The path as a JSON pointer: `("a/b", 0)` is `/a~1b/0`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def split(text: str) -> tuple[str, ...]:
    """The steps of a JSON pointer, all as text. Raises ValueError when it is none."""
    if text and not text.startswith("/"):
        raise ValueError(f"{text!r} is not a JSON pointer: it must begin with /")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])


def step_of(node: JsonValue, step: str | int) -> str | int:
    """The key or index that a step means in this node. Raises LookupError when there is nothing there."""
    if isinstance(node, dict):
        if str(step) in node:
            return str(step)
    elif isinstance(node, list):
        index = step if isinstance(step, int) else int(step) if _INDEX.fullmatch(step) else -1
        if 0 <= index < len(node):
            return index
    raise LookupError(f"nothing stands at {step!r}")


def get(value: JsonValue, path: tuple[str | int, ...]) -> JsonValue:
    """What stands at a path. Raises LookupError."""
    for step in path:
        value = child(value, step)
    return value


def child(node: JsonValue, step: str | int) -> JsonValue:
    """What stands one step down. Raises LookupError."""
    where = step_of(node, step)
    return node[where]  # type: ignore[index]  # step_of knows which of the two it is


def texts(value: JsonValue, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text in a value, with where it stands below `path`; keys are none."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from texts(inner, (*path, index))


def put(value: JsonValue, path: tuple[str | int, ...], leaf: JsonValue) -> JsonValue:
    """The value with `leaf` at an existing path; only the containers along the path are new. Raises LookupError."""
    if not path:
        return leaf
    where = step_of(value, path[0])
    below = put(child(value, where), path[1:], leaf)
    if isinstance(value, dict):
        return {**value, str(where): below}
    assert isinstance(value, list) and isinstance(where, int)
    return [*value[:where], below, *value[where + 1 :]]
