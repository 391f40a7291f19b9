"""The paths by which pins say where: `messages[*].content`, `system[0].text`, `**.id`, `metadata."user.id"`.

A step is a key, a quoted key, `[n]` (from the end when negative), `[*]` for any item, `*` for any key or item, `**`
for any depth, none included. A leading `$` (as in JSONPath) is understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import Path as Place


class Wild(Enum):
    """Steps that stand for several."""

    ITEM = "[*]"
    ANY = "*"
    DEEP = "**"


type Step = str | int | Wild
type Steps = tuple[Step, ...]

_TOKEN = re.compile(
    r"""
    (?P<deep>\*\*) | (?P<any>\*) | \[(?P<index>-?\d+)\] | (?P<item>\[\*\])
    | \[?"(?P<quoted>(?:[^"\\]|\\.)*)"\]? | (?P<key>[^.\[\]"*]+)
    """,
    re.VERBOSE,
)


class PathError(ValueError):
    """The text is not a path; says at which column."""


@dataclass(frozen=True, slots=True)
class Path:
    """A path, ready to be followed."""

    steps: Steps

    def __str__(self) -> str:
        return _written(self.steps)

    def matches(self, place: Place) -> bool:
        """True when this path leads to that place."""
        return _matches(self.steps, place)

    def find(self, value: JsonValue) -> Iterator[tuple[Place, JsonValue]]:
        """Every place in a value that this path leads to, in document order, each once."""
        seen: set[Place] = set()
        for place, found in _find(value, self.steps, ()):
            if place not in seen:
                seen.add(place)
                yield place, found


def parse(text: str) -> Path:
    """Read a path; the empty text means the whole value. Raises PathError."""
    steps: list[Step] = []
    at = 1 if text.startswith("$") else 0
    while at < len(text):
        if text[at] == "." and (steps or at) and at + 1 < len(text) and text[at + 1] not in ".[":
            at += 1
        elif steps and text[at] != "[":
            raise PathError(f"{text!r}: a dot or a bracket is missing at column {at + 1}")
        found = _TOKEN.match(text, at)
        if found is None:
            raise PathError(f"{text!r}: nothing readable at column {at + 1}")
        steps.append(_step(found))
        at = found.end()
    return Path(tuple(steps))


def rewrite(
    value: JsonValue, steps: Steps, change: Callable[[JsonValue], JsonValue], memo: Memo | None = None
) -> JsonValue:
    """The value with `change` applied at every place the steps lead to; what does not change is shared.

    With a memo, the items of a list one step down are rewritten once for all values that share them.
    """
    if not steps:
        return change(value)
    step, rest = steps[0], steps[1:]
    below = rest
    if step is Wild.DEEP:
        value, step, below = rewrite(value, rest, change), Wild.ANY, steps
    shared = memo if isinstance(value, list) else None
    return _each(
        value,
        lambda key: _is(key, step, value),
        lambda child: shared.get(child, below, change) if shared else rewrite(child, below, change, memo),
    )


class Memo:
    """What became of the items of shared lists. Holds the items, so that their identity stays theirs."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Steps], tuple[JsonValue, JsonValue]] = {}

    def get(self, item: JsonValue, steps: Steps, change: Callable[[JsonValue], JsonValue]) -> JsonValue:
        """The item, rewritten."""
        key = (id(item), steps)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (item, rewrite(item, steps, change))
        return known[1]


def _each(node: JsonValue, chosen: Callable[[str | int], bool], change: Callable[[JsonValue], JsonValue]) -> JsonValue:
    if isinstance(node, dict):
        members = {key: change(child) if chosen(key) else child for key, child in node.items()}
        return members if any(members[key] is not child for key, child in node.items()) else node
    if isinstance(node, list):
        items = [change(child) if chosen(index) else child for index, child in enumerate(node)]
        return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
    return node


def _step(found: re.Match[str]) -> Step:
    if found["deep"]:
        return Wild.DEEP
    if found["any"]:
        return Wild.ANY
    if found["item"]:
        return Wild.ITEM
    if found["index"]:
        return int(found["index"])
    if found["quoted"] is not None:
        return re.sub(r"\\(.)", r"\1", found["quoted"])
    return found["key"].strip()


def _is(key: str | int, step: Step, parent: JsonValue) -> bool:
    if step is Wild.ANY:
        return True
    if step is Wild.ITEM:
        return isinstance(key, int)
    if isinstance(step, int) and step < 0 and isinstance(parent, list):
        return key == len(parent) + step
    return type(key) is type(step) and key == step


def _matches(steps: Steps, place: Place) -> bool:
    if not steps:
        return not place
    if steps[0] is Wild.DEEP:
        return any(_matches(steps[1:], place[skipped:]) for skipped in range(len(place) + 1))
    return bool(place) and _is(place[0], steps[0], None) and _matches(steps[1:], place[1:])


def _find(value: JsonValue, steps: Steps, place: Place) -> Iterator[tuple[Place, JsonValue]]:
    if not steps:
        yield place, value
        return
    deep = steps[0] is Wild.DEEP
    if deep:
        yield from _find(value, steps[1:], place)
    children: Iterator[tuple[str | int, JsonValue]]
    if isinstance(value, dict):
        children = iter(value.items())
    elif isinstance(value, list):
        children = iter(enumerate(value))
    else:
        return
    for key, child in children:
        if deep or _is(key, steps[0], value):
            yield from _find(child, steps if deep else steps[1:], (*place, key))


def written(place: Place) -> str:
    """A place as a path: `messages[0].content`."""
    return _written(place)


def _written(steps: Steps | Place) -> str:
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step is Wild.ITEM:
            text += "[*]"
        else:
            key = step.value if isinstance(step, Wild) else _key(step)
            text += f".{key}" if text else key
    return text


def _key(key: str) -> str:
    if re.fullmatch(r"[^.\[\]\"*$\s][^.\[\]\"*]*", key):
        return key
    quoted = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'
