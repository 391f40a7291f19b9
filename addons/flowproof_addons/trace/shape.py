"""Raw JSON read with its place, so that a wrong type is told with the path where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import Path


class ShapeError(ValueError):
    """A member has the wrong type, or is missing: `path` says where, `what` what is expected."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{written(path) or 'the document'}: {what}")
        self.path = path
        self.what = what


def written(path: Path) -> str:
    """The path as people write it: `model.turns[3].reply`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands."""

    value: JsonValue
    path: Path = ()

    def wrong(self, what: str) -> ShapeError:
        """The error for this place."""
        return ShapeError(self.path, what)

    def has(self, key: str) -> bool:
        """True when this is an object with that member."""
        return isinstance(self.value, dict) and key in self.value

    def get(self, key: str) -> Node:
        """A member that must be there."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"must be an object, is {_kind(self.value)}")
        if key not in self.value:
            raise self.wrong(f"`{key}` is missing")
        return Node(self.value[key], (*self.path, key))

    def members(self) -> dict[str, Node]:
        """The members of an object."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"must be an object, is {_kind(self.value)}")
        return {key: Node(child, (*self.path, key)) for key, child in self.value.items()}

    def items(self) -> Iterator[Node]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.wrong(f"must be a list, is {_kind(self.value)}")
        return (Node(child, (*self.path, index)) for index, child in enumerate(self.value))

    def text(self) -> str:
        """The text this must be."""
        if not isinstance(self.value, str):
            raise self.wrong(f"must be text, is {_kind(self.value)}")
        return self.value

    def integer(self) -> int:
        """The whole number this must be."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.wrong(f"must be a whole number, is {_kind(self.value)}")
        return self.value

    def truth(self) -> bool:
        """The true or false this must be."""
        if not isinstance(self.value, bool):
            raise self.wrong(f"must be true or false, is {_kind(self.value)}")
        return self.value


def _kind(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"
