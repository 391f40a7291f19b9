"""JSON without loss: what `parse` read, `compact` says again, number literals included.

The standard parser forgets how a number was written and which of two equal keys came first. Matching may not.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping

from flowproof_addons.trace.model import JsonValue

MAX_DEPTH = 100
"""Deepest nesting of a body; every recursive walk over a value relies on a bound like it."""

FILE_DEPTH = MAX_DEPTH + 40
"""Deepest nesting of a trace, which holds bodies some levels down."""

_PLAIN_MARSHAL = 2
"""The last marshal format without back references: its bytes depend on the value alone."""

_LONGEST_INT = 4300
"""Python refuses to read longer integers (`sys.get_int_max_str_digits`)."""


class JsonError(ValueError):
    """The text is not the JSON we accept: says what is wrong, with line and column where they are known."""

    def __init__(self, what: str, line: int | None = None, column: int | None = None) -> None:
        where = f" at line {line}, column {column}" if line is not None else ""
        super().__init__(what + where)
        self.what = what
        self.line = line
        self.column = column


class Number(float):
    """A number whose literal Python would write differently (`1.00`, `1E5`, `-0`); equal to the float it reads as."""

    __slots__ = ("literal",)
    literal: str

    def __init__(self, literal: str) -> None:  # the value is read by float's own __new__
        self.literal = literal

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]  # float gives a float, we rebuild from the literal
        return (self.literal,)

    def __repr__(self) -> str:
        return self.literal


def parse(data: bytes | str, max_depth: int = MAX_DEPTH) -> JsonValue:
    """The value of one JSON document (RFC 8259; bytes must be UTF-8).

    Raises JsonError for anything else: a key given twice in one object, NaN and Infinity, nesting beyond
    `max_depth`, text after the document.
    """
    text = data if isinstance(data, str) else _decoded(data)
    try:
        value: JsonValue = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise JsonError(_plain(error.msg), error.lineno, error.colno) from error
    except RecursionError:
        raise JsonError(f"nested deeper than {max_depth} levels") from None
    if text.count("[") + text.count("{") > max_depth:
        _check_depth(value, max_depth)
    return value


def compact(value: JsonValue, spaced: bool = False, ascii_only: bool = False, sort_keys: bool = False) -> str:
    """The value on one line, in one of the ways JSON is commonly written on one line.

    Always encodable as UTF-8: text that holds a lone surrogate is escaped.
    """
    if has_literals(value):
        return "".join(_pieces(value, (", ", ": ") if spaced else (",", ":"), ascii_only, sort_keys))
    text = _ENCODERS[spaced, ascii_only, sort_keys].encode(value)
    return text if _encodable(text) else _ENCODERS[spaced, True, sort_keys].encode(value)


def string(text: str, ascii_only: bool = False) -> str:
    """One JSON string, quotes included."""
    return _ASCII_STRING(text) if ascii_only or not _encodable(text) else _STRING(text)


def number(value: float | int) -> str:
    """One JSON number, as it was written."""
    if isinstance(value, Number):
        return value.literal
    if value != value or value in (float("inf"), float("-inf")):
        raise JsonError(f"{value!r} is not a JSON number")
    return repr(value)


def has_literals(value: JsonValue) -> bool:
    """True when a `Number` stands anywhere in the value."""
    return fingerprint(value) is None


def fingerprint(value: JsonValue) -> bytes | None:
    """Bytes that are equal only for the same JSON (not for all of the same: key order counts); None with a `Number`.

    `marshal` writes exact builtin types only, so it also finds our subclass, three times faster than a dump.
    """
    try:
        return marshal.dumps(value, _PLAIN_MARSHAL)
    except ValueError:
        return None


def same(left: JsonValue, right: JsonValue) -> bool:
    """True when both are the same JSON: types and number literals count, the order of an object's keys does not."""
    if left is right:
        return True
    # `==` is the cheap way out: it knows most differences, but takes 1, 1.0 and true for one value.
    if left != right:
        return False
    prints = fingerprint(left), fingerprint(right)
    if prints[0] is not None and prints[0] == prints[1]:
        return True
    return compact(left, sort_keys=True) == compact(right, sort_keys=True)


def size(value: JsonValue) -> int:
    """About how many bytes the value takes as JSON; the same for every order of keys, and cheap."""
    content = fingerprint(value)
    return len(compact(value)) if content is None else len(content)


def _decoded(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8: byte {error.object[error.start]:#04x} at offset {error.start}") from error
    if text.startswith("\ufeff"):
        raise JsonError("starts with a byte order mark", 1, 1)
    return text


def _plain(message: str) -> str:
    """The standard message, in words that need no Python."""
    return {
        "Expecting value": "a value is missing",
        "Extra data": "there is text after the end of the JSON",
        "Expecting property name enclosed in double quotes": "a key in double quotes is missing",
    }.get(message, message[:1].lower() + message[1:])


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonError(f"the key {twice!r} stands twice in one object")
    return members


def _float(literal: str) -> float:
    value = float(literal)
    return value if repr(value) == literal else Number(literal)


def _int(literal: str) -> int | Number:
    return Number(literal) if literal == "-0" or len(literal) > _LONGEST_INT else int(literal)


def _no_constant(name: str) -> JsonValue:
    raise JsonError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_float, parse_int=_int, parse_constant=_no_constant)


def _check_depth(value: JsonValue, max_depth: int) -> None:
    """Level by level, without recursion; one list comprehension a level costs a tenth of parsing."""
    level: list[JsonValue] = [value]
    for _ in range(max_depth):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise JsonError(f"nested deeper than {max_depth} levels")


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")  # faster than any search for a surrogate
    except UnicodeEncodeError:
        return False
    return True


def _encoder(spaced: bool, ascii_only: bool, sort_keys: bool) -> json.JSONEncoder:
    return json.JSONEncoder(
        ensure_ascii=ascii_only,
        separators=(", ", ": ") if spaced else (",", ":"),
        sort_keys=sort_keys,
        allow_nan=False,
        check_circular=False,
    )


_ENCODERS: Mapping[tuple[bool, bool, bool], json.JSONEncoder] = {
    (spaced, ascii_only, sort_keys): _encoder(spaced, ascii_only, sort_keys)
    for spaced in (False, True)
    for ascii_only in (False, True)
    for sort_keys in (False, True)
}
_STRING = json.JSONEncoder(ensure_ascii=False).encode
_ASCII_STRING = json.JSONEncoder(ensure_ascii=True).encode


def _pieces(value: JsonValue, separators: tuple[str, str], ascii_only: bool, sort_keys: bool) -> list[str]:
    """The slow road, for values that hold a `Number`."""
    comma, colon = separators
    pieces: list[str] = []

    def write(node: JsonValue) -> None:
        if isinstance(node, dict):
            between = "{"
            for key in sorted(node) if sort_keys else node:
                pieces.extend((between, string(key, ascii_only), colon))
                write(node[key])
                between = comma
            pieces.append("}" if node else "{}")
        elif isinstance(node, list):
            between = "["
            for item in node:
                pieces.append(between)
                write(item)
                between = comma
            pieces.append("]" if node else "[]")
        else:
            pieces.append(scalar(node, ascii_only))

    write(value)
    return pieces


def scalar(value: JsonValue, ascii_only: bool = False) -> str:
    """One JSON scalar."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return string(value, ascii_only)
        case float() | int():
            return number(value)
        case _:
            raise TypeError(f"{type(value).__name__} is not a scalar")
