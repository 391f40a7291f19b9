"""A request as what it adds to an earlier one: RFC 6902 patches, small where a conversation only grew.

`difference` makes them, `apply` follows them; both share what did not change between the two values, so that two
thousand growing requests take the room of the last one.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from itertools import takewhile

from flowproof_addons.trace.json_value import same
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import pointer, split, step_of

type _Path = tuple[str | int, ...]
type Patch = list[JsonValue]
"""RFC 6902 operations: `add`, `remove`, `replace`."""


class PatchError(ValueError):
    """The patch does not fit the value it is applied to."""


def difference(old: JsonValue, new: JsonValue) -> Patch:
    """The operations that make `old` into `new`. Deterministic, and the same whatever the order of keys."""
    return list(_changes(old, new, ()))


def only_adds(patch: Patch) -> bool:
    """True when a patch takes nothing away, so that the new value is larger than the old one."""
    return all(isinstance(operation, dict) and operation["op"] == "add" for operation in patch)


def apply(value: JsonValue, patch: JsonValue) -> JsonValue:
    """The value a patch makes. Only the containers along the changed paths are new. Raises PatchError."""
    if not isinstance(patch, list):
        raise PatchError("a patch must be a list of operations")
    editor = _Editor(value)
    for number, operation in enumerate(patch):
        try:
            editor.run(operation)
        except (LookupError, ValueError) as error:
            raise PatchError(f"operation {number} of the patch does not fit: {error}") from error
    return editor.value


def _changes(old: JsonValue, new: JsonValue, path: _Path) -> Iterator[JsonValue]:
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _of_object(old, new, path)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_list(old, new, path)
    elif not same(old, new):
        yield {"op": "replace", "path": pointer(path), "value": new}


def _of_object(old: dict[str, JsonValue], new: dict[str, JsonValue], path: _Path) -> Iterator[JsonValue]:
    for key, value in old.items():
        if key not in new:
            yield {"op": "remove", "path": pointer((*path, key))}
        else:
            yield from _changes(value, new[key], (*path, key))
    for key, value in new.items():
        if key not in old:
            yield {"op": "add", "path": pointer((*path, key)), "value": value}


def _of_list(old: list[JsonValue], new: list[JsonValue], path: _Path) -> Iterator[JsonValue]:
    """Keep the common head and tail; change the middle item by item, then add or remove what is left."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    paired = min(len(left), len(right))
    for index in range(paired):
        yield from _changes(left[index], right[index], (*path, head + index))
    for _ in left[paired:]:
        yield {"op": "remove", "path": pointer((*path, head + paired))}
    for index, item in enumerate(right[paired:], head + paired):
        end = tail == 0
        yield {"op": "add", "path": pointer((*path, "-" if end else index)), "value": item}


def _common(old: list[JsonValue], new: list[JsonValue]) -> int:
    """How many items from the start are the same: as one comparison where it can be, item by item where it must."""
    shared = sum(takewhile(bool, map(operator.is_, old, new)))
    equal = shared + sum(takewhile(bool, map(_equal, old[shared:], new[shared:])))
    if same(old[shared:equal], new[shared:equal]):
        return equal
    return shared + sum(takewhile(bool, map(same, old[shared:], new[shared:])))


def _equal(old: JsonValue, new: JsonValue) -> bool:
    return old == new


class _Editor:
    """Applies operations; copies a container the first time it changes, never twice."""

    def __init__(self, value: JsonValue) -> None:
        self.value = value
        self._own: dict[int, JsonValue] = {}

    def run(self, operation: JsonValue) -> None:
        if not isinstance(operation, dict) or not isinstance(where := operation.get("path"), str):
            raise ValueError("an operation must be an object with a `path`")
        steps = split(where)
        match operation.get("op"):
            case "add" if "value" in operation:
                self._add(steps, operation["value"])
            case "replace" if "value" in operation:
                self._replace(steps, operation["value"])
            case "remove" if steps:
                parent = self._parent(steps)
                del parent[step_of(parent, steps[-1])]  # type: ignore[arg-type]  # a key for an object, an index for a list
            case other:
                raise ValueError(f"{other!r} is not an operation with all it needs; known are add, remove and replace")

    def _add(self, steps: tuple[str, ...], value: JsonValue) -> None:
        if not steps:
            self.value = value
            return
        parent = self._parent(steps)
        if isinstance(parent, dict):
            parent[steps[-1]] = value
        else:
            at = len(parent) if steps[-1] in ("-", str(len(parent))) else step_of(parent, steps[-1])
            assert isinstance(at, int)
            parent.insert(at, value)

    def _replace(self, steps: tuple[str, ...], value: JsonValue) -> None:
        if not steps:
            self.value = value
            return
        parent = self._parent(steps)
        parent[step_of(parent, steps[-1])] = value  # type: ignore[index]

    def _parent(self, steps: tuple[str, ...]) -> dict[str, JsonValue] | list[JsonValue]:
        """The container that holds the last step, and all above it, as our own copies."""
        node = self.value = self._mine(self.value)
        for step in steps[:-1]:
            where = step_of(node, step)
            below = self._mine(node[where])  # type: ignore[index]
            node[where] = below  # type: ignore[index]
            node = below
        return node

    def _mine(self, node: JsonValue) -> dict[str, JsonValue] | list[JsonValue]:
        if id(node) in self._own and isinstance(node, dict | list):
            return node
        copied: dict[str, JsonValue] | list[JsonValue]
        if isinstance(node, dict):
            copied = dict(node)
        elif isinstance(node, list):
            copied = list(node)
        else:
            raise LookupError("the path leads through a plain value")
        self._own[id(copied)] = copied
        return copied
