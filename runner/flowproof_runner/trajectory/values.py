"""Where two JSON values differ."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.matchers.matchers import equal


class Absent:
    """No value, where JSON's own null would be one."""


ABSENT = Absent()

type Found = JsonValue | Absent


def changes(before: Found, after: Found, path: str = "") -> Iterator[tuple[str, Found, Found]]:
    """Each path at which the two differ, dotted, list indexes as numbers, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            yield from changes(before.get(name, ABSENT), after.get(name, ABSENT), _below(path, name))
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            yield from changes(_at(before, index), _at(after, index), _below(path, str(index)))
    elif isinstance(before, Absent) or isinstance(after, Absent) or not equal(before, after):
        yield path, before, after


def _at(values: list[JsonValue], index: int) -> Found:
    return values[index] if index < len(values) else ABSENT


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
