"""Reading JSON values: equality as a key, path steps, tool answers that carry JSON inside text."""

from __future__ import annotations

import json

from flowproof_addons.trace.model import JsonValue

type Key = tuple[str, object]
"""Equal for equal JSON values: 1 and 1.0 are equal, true and 1 are not, an object's key order does not count."""


def key(value: JsonValue) -> Key:
    """A hashable stand-in for a value."""
    match value:
        case str():
            return ("s", value)
        case bool() | None:
            return ("c", value)
        case int() | float():
            return ("n", value)
        case list():
            return ("a", tuple(map(key, value)))
        case dict():
            return ("o", frozenset((name, key(inner)) for name, inner in value.items()))


def type_name(value: JsonValue) -> str:
    """The JSON word for a value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"


def is_number(value: JsonValue) -> bool:
    """True for a JSON number, which a boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def decoded(result: JsonValue) -> JsonValue:
    """A tool's answer as data: structured content or the one text block of an MCP envelope, JSON inside text.

    What is not clearly a wrapping stays as it is.
    """
    if isinstance(result, str):
        return _from_text(result)
    blocks: JsonValue = result
    if isinstance(result, dict) and isinstance(result.get("content"), list):
        if result.get("structuredContent") is not None:
            return result["structuredContent"]
        if result.keys() <= {"content", "isError", "_meta", "structuredContent"}:
            blocks = result["content"]
    if isinstance(blocks, list) and len(blocks) == 1 and isinstance(block := blocks[0], dict):
        text = block.get("text")
        if block.get("type") in ("text", "input_text", "output_text") and isinstance(text, str):
            return _from_text(text)
    return result


def _from_text(text: str) -> JsonValue:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value


def short(value: JsonValue, limit: int = 120) -> str:
    """A value on one line for a message, cut in the middle."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]}…{text[-limit // 4 :]}"
