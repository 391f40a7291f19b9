from __future__ import annotations

import pytest

from flowproof_addons.mcp.difference import differences
from flowproof_addons.trace.model import JsonValue


@pytest.mark.parametrize(
    ("expected", "actual", "said"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ["a.b[1]: 2 -> 3"]),
        ({"a": 1}, {"b": 1}, ["a: removed: 1", "b: added: 1"]),
        ([1], [1, 2], ["[1]: added: 2"]),
        ([1, 2], [1], ["[1]: removed: 2"]),
        ({"a": 1}, {"a": 1.0}, ["a: 1 -> 1.0"]),
        ({"a": 1}, {"a": True}, ["a: 1 -> True"]),
        ({"a": None}, {"a": {}}, ["a: None -> {}"]),
    ],
)
def test_every_place_where_two_values_part_is_named(expected: JsonValue, actual: JsonValue, said: list[str]) -> None:
    assert [str(difference) for difference in differences(expected, actual)] == said
