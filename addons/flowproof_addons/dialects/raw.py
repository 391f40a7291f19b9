"""Read raw JSON without ever raising: what is not there, or not of the kind, reads as empty.

Bodies come from agents and upstreams we do not know; a malformed one is recorded and replayed like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import Body, JsonBody, JsonValue

type Path = tuple[str | int, ...]


def parse(text: str) -> JsonValue:
    """The JSON document in `text`, number literals kept. Raises ValueError if it is none."""
    return json_value.parse(text)


def compact(value: JsonValue) -> str:
    """The shortest JSON text of a value, keys in their order, non-ASCII as it is."""
    return json_value.compact(value)


def of_body(body: Body) -> dict[str, JsonValue]:
    """The object a request's body is, else an empty one."""
    return as_object(body.value) if isinstance(body, JsonBody) else {}


def as_object(value: JsonValue) -> dict[str, JsonValue]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: JsonValue) -> list[JsonValue]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    """The objects in an array, in order; anything else in it is passed over."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def as_text(value: JsonValue) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_int(value: JsonValue) -> int | None:
    """The value if it is a whole number, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def at(value: JsonValue, *keys: str) -> JsonValue:
    """What stands under these object keys, one inside the other; None where there is nothing."""
    return reduce(lambda inner, key: as_object(inner).get(key), keys, value)


def arguments(text: str) -> JsonValue:
    """Tool arguments as they stand on the wire: `""` reads as `{}`, text that is not JSON as itself."""
    try:
        return parse(text) if text.strip() else {}
    except ValueError:
        return text


def text_of(content: JsonValue) -> str:
    """The text of a message's content: the string, or its text parts one after the other."""
    if isinstance(content, list):
        return "".join(as_text(part.get("text")) for part in objects(content))
    return as_text(content)


def replaced(value: JsonValue, path: Sequence[str | int], new: JsonValue) -> JsonValue:
    """The value with `new` at `path`; only what lies along the path is copied."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(value, dict) and isinstance(key, str):
        return {**value, key: replaced(value.get(key), rest, new)}
    if isinstance(value, list) and isinstance(key, int):
        return [*value[:key], replaced(value[key], rest, new), *value[key + 1 :]]
    raise KeyError(f"nothing at {key!r}: the path is not of this body")


def found(value: JsonValue, path: Sequence[str | int]) -> JsonValue:
    """What stands at `path`; None where there is nothing."""
    for key in path:
        if isinstance(value, dict) and isinstance(key, str):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value
