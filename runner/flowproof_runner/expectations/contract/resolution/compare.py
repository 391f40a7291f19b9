"""One comparison of values, the right side being a set of which any may do."""

from __future__ import annotations

import re
from functools import lru_cache

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.terms import Operator
from flowproof_runner.expectations.contract.values import is_number, key
from flowproof_runner.matchers.matchers import Compares, Operand, Order, equal, holds, json_text, subset

_ORDERS: dict[Operator, Order] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}


def suits(operator: Operator, left: JsonValue, right: JsonValue, *, loose: bool = False) -> bool:
    """True when `left OPERATOR right` holds for these two values. `loose`: see `terms.Literal`."""
    match operator:
        case "equals":
            return _equals(left, right, loose=loose)
        case "<" | "<=" | ">" | ">=":
            return _ordered(_ORDERS[operator], left, right, loose=loose)
        case "in":
            wanted = right if isinstance(right, list) else [right]
            return any(_equals(left, each, loose=loose) for each in wanted)
        case "contains":
            return _contains(left, right, loose=loose)
        case "matches":
            return _matches(left, right)
        case "same set as":
            return isinstance(left, list) and isinstance(right, list) and set(map(key, left)) == set(map(key, right))
        case "includes":
            return subset(right, left)
        case _:
            raise AssertionError(f"{operator} has no right side")


def is_empty(value: JsonValue) -> bool | None:
    """True for an empty array, object or text; None where emptiness means nothing."""
    return len(value) == 0 if isinstance(value, list | dict | str) else None


def _equals(left: JsonValue, right: JsonValue, *, loose: bool) -> bool:
    if loose and not isinstance(right, str | list | dict):
        return Operand(right, json_text(right)).equals(left)
    return equal(right, left)


def _ordered(order: Order, left: JsonValue, right: JsonValue, *, loose: bool) -> bool:
    if not (loose or (is_number(left) and is_number(right))):
        return False
    return holds(Compares(order, Operand(right, json_text(right))), left)


def _contains(left: JsonValue, right: JsonValue, *, loose: bool) -> bool:
    if isinstance(left, list):
        return any(_equals(element, right, loose=loose) for element in left)
    text = right if isinstance(right, str) else json_text(right)
    return text in left if isinstance(left, dict | str) else False


def _matches(left: JsonValue, right: JsonValue) -> bool:
    text = left if isinstance(left, str) else json_text(left) if is_number(left) else None
    return text is not None and isinstance(right, str) and _pattern(right).search(text) is not None


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)
