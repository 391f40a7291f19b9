"""Each matcher accepts what it names and refuses the nearest thing to it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.matchers.matchers import (
    Absent,
    Compares,
    Contains,
    Equals,
    Exactly,
    Exists,
    In,
    Matcher,
    Matches,
    Not,
    Operand,
    Subset,
    equal,
    holds,
    literal,
    operand,
    subset,
)
from flowproof_runner.matchers.path import MISSING, Missing


def prose(text: str) -> Operand:
    return Operand(literal(text), text)


def regex(pattern: str) -> Matches:
    return Matches(re.compile(pattern))


@pytest.mark.parametrize(
    ("matcher", "accepts", "refuses"),
    [
        (Equals(prose("KQ311")), ["KQ311"], ["KQ3112", "kq311", 311, None, MISSING, ["KQ311"]]),
        (Equals(prose("5")), [5, 5.0, "5"], [True, "5.0", " 5", 6, "05", [5]]),
        (Equals(prose("1.10")), [1.1, "1.10"], ["1.1", 1.11]),
        (Equals(operand("5")), ["5"], [5, 5.0, "5.0"]),
        (Equals(prose("true")), [True, "true"], [1, "True", False]),
        (Equals(prose("1")), [1, "1"], [True, "true"]),
        (Equals(prose("0")), [0, -0.0], [False, None, "", MISSING]),
        (Equals(prose("null")), [None, "null"], [MISSING, 0, "", False]),
        (Equals(operand({"a": [1]})), [{"a": [1]}, {"a": [1.0]}], [{"a": [1], "b": 2}, {"a": ["1"]}, '{"a": [1]}']),
        (Contains(prose("NBO")), ["to NBO now", ["NBO", 1], {"NBO": None}], ["nbo", ["to NBO"], {"x": "NBO"}, None]),
        (Contains(prose("47")), [4711, "a47", [47], ["47"], 0.47], [True, None, MISSING, [4711]]),
        (regex(r"^[0-9]+[A-F]$"), ["12C"], ["12G", "12", None, MISSING, ["12C"]]),
        (regex("1"), [212, "1", 0.1], [True, None, "2"]),
        (Exists(), [None, 0, "", []], [MISSING]),
        (Absent(), [MISSING], [None, 0, "", []]),
        (Compares("<", prose("5")), [4, 4.9, "4", -1], [5, "5", "four", None, True, MISSING, [1]]),
        (Compares("<=", prose("5")), [5, "5.0"], [5.1, False]),
        (Compares(">", prose("5")), [6, "1e3"], [5, None]),
        (Compares(">=", prose("5")), [5, 10**400], [4.99, MISSING]),
        (In((prose("a"), prose("2"))), ["a", 2, "2"], ["b", 3, ["a"], MISSING]),
        (In(()), [], ["", None, MISSING]),
        (Subset({"a": {"b": 1}}), [{"a": {"b": 1, "c": 2}, "d": 0}], [{"a": {"b": "1"}}, {"a": 1}, MISSING, []]),
        (Subset({}), [{}, {"a": 1}], [[], None, MISSING]),
        (Subset([{"a": 1}]), [[{"a": 1, "b": 2}]], [[{"a": 1}, {}], [], {"0": {"a": 1}}]),
        (Exactly({"a": 1}), [{"a": 1}], [{"a": 1, "b": 2}, {"a": True}, {}]),
        (Not(Equals(prose("5"))), [6, MISSING], [5, "5"]),
        (Not(Exists()), [MISSING], [None]),
        (Not(Not(Exists())), [None], [MISSING]),
    ],
    ids=str,
)
def test_holds(matcher: Matcher, accepts: list[JsonValue | Missing], refuses: list[JsonValue | Missing]) -> None:
    assert [value for value in accepts if not holds(matcher, value)] == []
    assert [value for value in refuses if holds(matcher, value)] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("007", "007"),
        ("+5", "+5"),
        ("1_000", "1_000"),
        ("True", "True"),
        ("yes", "yes"),
        (".5", ".5"),
        ("NaN", "NaN"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        ("2026-01-01", "2026-01-01"),
        ("\u0665", "\u0665"),
    ],
)
def test_unquoted_prose_means_what_json_means(text: str, value: JsonValue) -> None:
    assert (literal(text), type(literal(text))) == (value, type(value))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_a_value_equals_and_holds_itself(value: JsonValue) -> None:
    assert equal(value, value) and subset(value, value)


@given(json_values, json_values)
def test_equality_is_symmetric_and_is_a_subset_both_ways(left: JsonValue, right: JsonValue) -> None:
    assert equal(left, right) == equal(right, left)
    assert equal(left, right) == (subset(left, right) and subset(right, left))


@given(json_values, json_values)
def test_negation_always_says_the_opposite(wanted: JsonValue, actual: JsonValue) -> None:
    for matcher in (Equals(operand(wanted)), Contains(operand(wanted)), Subset(wanted)):
        assert holds(Not(matcher), actual) != holds(matcher, actual)
