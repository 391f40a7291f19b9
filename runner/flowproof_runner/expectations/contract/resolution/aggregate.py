"""Numbers and lists computed from the elements of a collection."""

from __future__ import annotations

from decimal import Decimal
from typing import assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.terms import Function
from flowproof_runner.expectations.contract.values import is_number, key


def aggregated(function: Function, elements: tuple[JsonValue, ...]) -> tuple[JsonValue, ...] | None:
    """The aggregate as a tuple of one, None where it is not defined."""
    if function == "count":
        return (len(elements),)
    if function == "distinct":
        return (list({key(value): value for value in elements}.values()),)
    numbers = [value for value in elements if isinstance(value, int | float) and is_number(value)]
    if len(numbers) != len(elements) or (not numbers and function != "sum"):
        return None
    match function:
        case "sum":
            return (_exact(numbers),)
        case "min":
            return (min(numbers),)
        case "max":
            return (max(numbers),)
        case "avg":
            return (_exact(numbers) / len(numbers),)
        case _:
            assert_never(function)


def _exact(numbers: list[int | float]) -> int | float:
    """The sum as people write it: 0.1 + 0.2 is 0.3."""
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    return float(sum(Decimal(repr(float(number))) for number in numbers))
