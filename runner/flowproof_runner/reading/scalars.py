"""What an unquoted YAML scalar means: YAML 1.2's core schema, so `on`, `no`, `2026-01-01` and `1_000` are text.

Numbers, booleans and null keep the text they were written as, so that `PORT: 8080` under `env` and `equals: 1.10` can
mean what the author saw. https://yaml.org/spec/1.2.2/#103-core-schema (read 2026-12-02)
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from flowproof_addons.trace.model import JsonValue

type Node = str | Scalar | list[Node] | dict[str, Node]
"""A YAML value as read: text is a str, every other scalar a Scalar."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """An unquoted scalar that is not text."""

    value: bool | int | float | None
    text: str


class ScalarError(ValueError):
    """A scalar has no JSON value, or two readers would disagree about it."""


_NULL = ("", "~", "null", "Null", "NULL")
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_RADIX = {"0o": 8, "0x": 16}
_DIGITS = 4300  # what int() accepts without complaint


def plain(text: str) -> str | Scalar:
    """What an unquoted scalar means.

    Raises ScalarError for infinities, not-a-number and numbers with leading zeros.
    """
    if text in _NULL:
        return Scalar(None, text)
    if text in _BOOLEANS:
        return Scalar(_BOOLEANS[text], text)
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return _float(text)
    if text.lstrip("+-").lower() in (".inf", ".nan"):
        raise ScalarError(f"{text} is not a JSON number; put it in quotes if it is text")
    if text[:2] in _RADIX:
        return _radix(text)
    return text


def value(node: Node) -> JsonValue:
    """The JSON value of a node."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, list):
        return [value(each) for each in node]
    if isinstance(node, dict):
        return {key: value(each) for key, each in node.items()}
    return node


def _integer(text: str) -> Scalar:
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0":
        raise ScalarError(f"{text} reads differently in different tools; drop the leading zero or put it in quotes")
    if len(digits) > _DIGITS:
        raise ScalarError(f"a number of {len(digits)} digits is too long; put it in quotes if it is text")
    return Scalar(int(text), text)


def _float(text: str) -> Scalar:
    number = float(text)
    if not math.isfinite(number):
        raise ScalarError(f"{text} is too big for a number; put it in quotes if it is text")
    return Scalar(number, text)


def _radix(text: str) -> str | Scalar:
    try:
        return Scalar(int(text[2:], _RADIX[text[:2]]), text) if text[2:].isalnum() else text
    except ValueError:
        return text
