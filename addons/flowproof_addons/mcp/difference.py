"""Where two JSON values part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonValue


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the recorded and the received value are not the same."""

    path: str
    expected: JsonValue
    actual: JsonValue
    kind: str = "changed"
    """`changed`, `added` or `removed`."""

    def __str__(self) -> str:
        if self.kind != "changed":
            return f"{self.path}: {self.kind}: {self.actual if self.kind == 'added' else self.expected!r}"
        return f"{self.path}: {self.expected!r} -> {self.actual!r}"

    def to_json(self) -> dict[str, JsonValue]:
        """As it stands in a report."""
        return {"path": self.path, "kind": self.kind, "expected": self.expected, "actual": self.actual}


def differences(expected: JsonValue, actual: JsonValue, path: str = "") -> Iterator[Difference]:
    """All places where they part, in document order; 1, 1.0 and true are different."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in (*expected, *(n for n in actual if n not in expected)):
            where = f"{path}.{name}" if path else name
            if name not in actual:
                yield Difference(where, expected[name], None, "removed")
            elif name not in expected:
                yield Difference(where, None, actual[name], "added")
            else:
                yield from differences(expected[name], actual[name], where)
    elif isinstance(expected, list) and isinstance(actual, list):
        for index, (left, right) in enumerate(zip(expected, actual, strict=False)):
            yield from differences(left, right, f"{path}[{index}]")
        for index in range(len(actual), len(expected)):
            yield Difference(f"{path}[{index}]", expected[index], None, "removed")
        for index in range(len(expected), len(actual)):
            yield Difference(f"{path}[{index}]", None, actual[index], "added")
    elif not json_value.same(expected, actual):
        yield Difference(path, expected, actual)
