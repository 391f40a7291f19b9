"""What a clause may demand of a value, and whether it holds.

Values compare as JSON: 1 and 1.0 are equal, a boolean is never a number, an object's key order does not count, an
array's does. A number, boolean or null written in a spec also accepts the string with exactly that text, because
models write `"5"` where they mean 5; a text in quotes accepts only a string.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Literal, assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.matchers.path import MISSING, Missing

type Order = Literal["<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Operand:
    """A value written in a spec, with the text it was written as."""

    value: JsonValue
    text: str

    def equals(self, actual: JsonValue | Missing) -> bool:
        """True when `actual` is this value, or the string with this text where the value is no string."""
        if isinstance(actual, str) and not isinstance(self.value, str | list | dict):
            return actual == self.text
        return equal(self.value, actual)


@dataclass(frozen=True, slots=True)
class Equals:
    """The value is the operand."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Contains:
    """A string or number whose text holds the operand's, an array with such an element, an object with such a key."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Matches:
    """A string (or a number's text) in which the regular expression is found somewhere."""

    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Exists:
    """There is a value; null is one."""


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no value; null is one."""


@dataclass(frozen=True, slots=True)
class Compares:
    """A number, or the text of one, on the given side of the bound."""

    order: Order
    bound: Operand


@dataclass(frozen=True, slots=True)
class In:
    """The value is one of the operands."""

    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Subset:
    """The value holds at least this; see `subset`."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class Exactly:
    """The value is this JSON value and no more."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class Not:
    """Plain negation: a value that is missing satisfies `not equals 5`."""

    matcher: Matcher


type Matcher = Equals | Contains | Matches | Exists | Absent | Compares | In | Subset | Exactly | Not


def operand(value: JsonValue) -> Operand:
    """The operand for a value that was written as YAML."""
    return Operand(value, value if isinstance(value, str) else json_text(value))


def holds(matcher: Matcher, actual: JsonValue | Missing) -> bool:
    """True when the value meets the demand."""
    match matcher:
        case Equals(operand=wanted):
            return wanted.equals(actual)
        case Contains(operand=wanted):
            return _contains(wanted, actual)
        case Matches(pattern=pattern):
            text = _text(actual)
            return text is not None and pattern.search(text) is not None
        case Exists():
            return actual is not MISSING
        case Absent():
            return actual is MISSING
        case Compares(order=order, bound=bound):
            return _ordered(order, actual, bound.value)
        case In(operands=operands):
            return any(each.equals(actual) for each in operands)
        case Subset(value=value):
            return subset(value, actual)
        case Exactly(value=value):
            return equal(value, actual)
        case Not(matcher=inner):
            return not holds(inner, actual)
        case _:
            assert_never(matcher)


def equal(left: JsonValue, right: JsonValue | Missing) -> bool:
    """True when two JSON values are the same value."""
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(equal(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, list):
        return (
            isinstance(right, list) and len(left) == len(right) and all(map(equal, left, right))
        )  # order counts in an array
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def subset(expected: JsonValue, actual: JsonValue | Missing) -> bool:
    """True when `actual` holds `expected`: objects may have more keys, arrays may not be longer, scalars are equal."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            subset(value, actual.get(key, MISSING)) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(actual, list) and len(expected) == len(actual) and all(map(subset, expected, actual))
    return equal(expected, actual)


def literal(text: str) -> JsonValue:
    """What unquoted prose means: true, false, null and JSON numbers are themselves, anything else is text."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER or _NUMBER.fullmatch(text) is None:
        return text
    number = json.loads(text)
    return number if isinstance(number, int) or (isinstance(number, float) and math.isfinite(number)) else text


_LONGEST_NUMBER = 1000
"""Python refuses to read whole numbers of some thousand digits."""
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def json_text(value: JsonValue) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, default=repr)


def _text(actual: JsonValue | Missing) -> str | None:
    """The text of a string or number, None of anything else."""
    if isinstance(actual, str):
        return actual
    if isinstance(actual, bool) or not isinstance(actual, int | float):
        return None
    return json_text(actual)


def _contains(wanted: Operand, actual: JsonValue | Missing) -> bool:
    if isinstance(actual, list):
        return any(wanted.equals(element) for element in actual)
    if isinstance(actual, dict):
        return wanted.text in actual
    text = _text(actual)
    return text is not None and wanted.text in text


def _ordered(order: Order, actual: JsonValue | Missing, bound: JsonValue) -> bool:
    left, right = _number(actual), _number(bound)
    if left is None or right is None:
        return False
    match order:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right


def _number(value: JsonValue | Missing) -> int | float | None:
    if isinstance(value, str):
        value = literal(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value
