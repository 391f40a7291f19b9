"""-k selects by parts of names."""

from __future__ import annotations

import pytest

from flowproof_runner.targets.selection import SelectionError, parse


@pytest.mark.parametrize(
    "expression, name, selected",
    [
        ("book", "specs/Booking.flow.yaml", True),
        ("book", "refund", False),
        ("book and slow", "book slow", True),
        ("book and slow", "book", False),
        ("book or refund", "refund", True),
        ("not slow", "book", True),
        ("not slow", "slow", False),
        ("book and not slow", "book fast", True),
        ("a or b and c", "a", True),
        ("(a or b) and c", "a", False),
        ("(a or b) and c", "bc", True),
        ("not (a or b)", "c", True),
        ("not not a", "a", True),
        ('"books a flight"', "Agent books a flight", True),
        ('"and"', "this and that", True),
        ("flow-1/x.flow.yaml", "flow-1/x.flow.yaml", True),
        ("android", "android", True),
    ],
)
def test_an_expression_selects_by_parts_of_the_name(expression: str, name: str, selected: bool) -> None:
    assert parse(expression)(name) is selected


@pytest.mark.parametrize(
    "expression, why",
    [
        ("", "a name is missing"),
        ("and", "a name is missing"),
        ("a and", "a name is missing"),
        ("a b", "'b' was not expected"),
        ("(a", "a bracket is not closed"),
        ("a)", "'\\)' was not expected"),
        ("()", "a name is missing"),
        ('a "b', "a quote is not closed"),
    ],
)
def test_an_expression_that_cannot_be_read_is_refused(expression: str, why: str) -> None:
    with pytest.raises(SelectionError, match=why):
        parse(expression)
