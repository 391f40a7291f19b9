"""The kinds of value a spec holds, read from YAML nodes: text, numbers, durations, sizes, commands, JSON."""

from __future__ import annotations

import re
import shlex
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.matchers.regex import PatternError, compiled
from flowproof_runner.reading.problems import Complaint, refuse
from flowproof_runner.reading.scalars import Node, Scalar, value

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(B|KB|MB|GB|KiB|MiB|GiB)")
_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SHELL = {"|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1", "<<", "`"}
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


class Part(BaseModel):
    """Base of every piece of the grammar: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


def _text(node: object) -> object:
    """Text may be written without quotes even where YAML sees a number: what counts is what was written."""
    if isinstance(node, Scalar) and node.value is not None:
        return node.text
    return _value(node)


def _value(node: object) -> object:
    """The plain value of a scalar, for pydantic to judge."""
    return node.value if isinstance(node, Scalar) else node


def _object(node: Node) -> dict[str, JsonValue]:
    found = value(node)
    if not isinstance(found, dict):
        raise refuse(Complaint(f"expected a mapping, found {kind(node)}"))
    return found


_SHOWN = 200
"""Characters of a wrong value that a message repeats."""


def kind(node: object) -> str:
    """What a node is, in the words of an error message."""
    match node:
        case Scalar(value=None) | None:
            return "nothing"
        case Scalar(text=text):
            return _beginning(text)
        case bool():
            return str(node).lower()
        case list() | tuple():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return _beginning(repr(node))


def _beginning(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def seconds(node: object) -> float:
    """Read `300s`, `5m`, `250ms`, `1h`.

    Raises a pydantic error if it is no duration.
    """
    text = str(_text(node))
    found = _DURATION.fullmatch(text)
    if found is None or float(found[1]) == 0:
        raise refuse(Complaint(f"{kind(node)} is no duration; accepted: 300s, 5m, 250ms, 1h"))
    return float(found[1]) * _SECONDS[found[2]]


def days(node: object) -> int:
    """Read `90d`.

    Raises a pydantic error if it is no number of days.
    """
    found = re.fullmatch(r"([1-9]\d{0,4})d", str(_text(node)))
    if found is None:
        raise refuse(Complaint(f"{kind(node)} is no number of days; accepted: 90d"))
    return int(found[1])


def size_bytes(node: object) -> int:
    """Read `64KiB`, `10MB`, `512B`.

    Raises a pydantic error if it is no size.
    """
    text = str(_text(node))
    found = _SIZE.fullmatch(text)
    if found is None:
        raise refuse(Complaint(f"{kind(node)} is no size; accepted: 512B, 64KiB, 10MB"))
    return int(float(found[1]) * _BYTES[found[2]])


def words(node: object) -> tuple[str, ...]:
    """Read a command: POSIX shell words without a shell, or a list of words.

    Raises a pydantic error if it is empty, cannot be split or asks for what only a shell does.
    """
    if isinstance(node, list | tuple):
        found = tuple(_text(each) for each in node)
        if not all(isinstance(each, str) for each in found):
            raise refuse(Complaint("every word of a command must be text"))
        return _started(tuple(str(each) for each in found))
    text = _text(node)
    if not isinstance(text, str):
        raise refuse(Complaint("expected a command; accepted: a text such as 'npm run agent', or a list of words"))
    try:
        split = tuple(shlex.split(text))
    except ValueError as error:
        raise refuse(
            Complaint(f"cannot be split into words: {error}; accepted: POSIX shell words, or a list")
        ) from error
    _refuse_shell(split)
    return _started(split)


def _refuse_shell(split: tuple[str, ...]) -> None:
    for word in split:
        if word in _SHELL or word.endswith(";"):
            raise refuse(Complaint(f"{word!r} needs a shell, and none is run; accepted: [sh, -c, '...']"))
    if split and _ASSIGNMENT.match(split[0]):
        raise refuse(Complaint(f"{split[0]!r} sets a variable as a shell would; put it under env"))


def _started(split: tuple[str, ...]) -> tuple[str, ...]:
    if not split or not split[0]:
        raise refuse(Complaint("the command is empty"))
    return split


def _pattern(text: str) -> str:
    try:
        compiled(text)
    except PatternError as error:
        raise refuse(Complaint(str(error))) from error
    return text


PATTERNS = {
    r"^[A-Za-z_][A-Za-z0-9_]*$": "letters, digits and _, not beginning with a digit",
    r"^[A-Za-z0-9_./:-]+$": "letters, digits, _ - . / :",
    r"^[A-Za-z0-9][A-Za-z0-9_-]*$": "letters, digits, _ and -",
}
"""The patterns of the grammar's names, in words."""

_ANY_TEXT = WithJsonSchema({"type": ["string", "number", "boolean"]})

Text = Annotated[str, BeforeValidator(_text), _ANY_TEXT]
"""Any text."""
Words = Annotated[str, BeforeValidator(_text), Field(min_length=1), _ANY_TEXT]
"""Text that is not empty."""
Flag = Annotated[bool, Field(strict=True), BeforeValidator(_value)]
Whole = Annotated[int, Field(strict=True), BeforeValidator(_value)]
Counted = Annotated[int, Field(strict=True, ge=1), BeforeValidator(_value)]
Count = Annotated[int, Field(strict=True, ge=0), BeforeValidator(_value)]
Port = Annotated[int, Field(strict=True, ge=1, le=65535), BeforeValidator(_value)]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of an environment variable."""
Json = Annotated[JsonValue, PlainValidator(value), WithJsonSchema({})]
Object = Annotated[dict[str, JsonValue], PlainValidator(_object), WithJsonSchema({"type": "object"})]
Pattern = Annotated[str, BeforeValidator(_text), AfterValidator(_pattern)]
"""A regular expression."""
Duration = Annotated[float, PlainValidator(seconds), WithJsonSchema({"type": "string", "examples": ["300s", "5m"]})]
Days = Annotated[int, PlainValidator(days), WithJsonSchema({"type": "string", "examples": ["90d"]})]
Size = Annotated[int, PlainValidator(size_bytes), WithJsonSchema({"type": "string", "examples": ["64KiB"]})]
Command = Annotated[
    tuple[str, ...],
    PlainValidator(words),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
