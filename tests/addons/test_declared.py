"""Which declared result answers which call."""

from __future__ import annotations

import pytest

from flowproof_addons.declared import choose, contains
from flowproof_addons.session import MockResult
from flowproof_addons.trace.model import JsonValue


def test_results_by_position_end_and_results_that_repeat_do_not() -> None:
    results = (MockResult(content="a"), MockResult(content="b"))
    positional = [choose(results, False, call, {}) for call in (1, 2, 3)]
    assert [r and r.content for r in positional] == ["a", "b", None]
    repeated = choose(results[:1], True, 9, {})
    assert repeated and repeated.content == "a"


@pytest.mark.parametrize(
    ("value", "subset", "holds"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": None}, False),
        ({"a": [1, 2]}, {"a": [1]}, False),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}]}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ("text", {"a": 1}, False),
    ],
)
def test_contains(value: JsonValue, subset: JsonValue, holds: bool) -> None:
    assert contains(value, subset) is holds
