"""Every smallest change of a recorded request, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from flowproof_addons.dialects.base import Dialect
from flowproof_addons.trace.model import BytesBody, JsonBody, JsonValue, MultipartBody, Request

type Path = tuple[str | int, ...]
type Groups = tuple[tuple[Path, ...], ...]

NOT_COMPARED: tuple[Path, ...] = (("stream",), ("stream_options",))
"""The written list: how a reply is transported, not what is asked."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A request that differs from a recorded one in one place."""

    what: str
    request: Request


def mutations(request: Request, dialect: Dialect | None) -> Iterator[Mutation]:
    """All of a recorded request's mutations, but the order of results of one parallel message: they are a set."""
    unordered = dialect.read_request(request).parallel if dialect else ()
    yield Mutation("method", replace(request, method="PUT"))
    yield Mutation("path", replace(request, path=request.path + "x"))
    yield Mutation("query", replace(request, query=request.query + "&x=1"))
    match request.body:
        case JsonBody(value):
            for what, changed in _changed(value, (), unordered):
                yield Mutation(what, replace(request, body=JsonBody(changed), digest=""))
        case MultipartBody(parts):
            for i, part in enumerate(parts):
                other = (*parts[:i], replace(part, data=part.data + b"x"), *parts[i + 1 :])
                yield Mutation(f"part {i}", replace(request, body=MultipartBody(other), digest=""))
        case BytesBody(data):
            yield Mutation("bytes", replace(request, body=BytesBody(data + b"x"), digest=""))


def _changed(value: JsonValue, path: Path, unordered: Groups) -> Iterator[tuple[str, JsonValue]]:
    """The value with one thing changed, at this level or below; never at what is not compared."""
    if path in NOT_COMPARED:
        return
    where = "".join(f"[{step!r}]" for step in path)
    for other in _others(value):
        yield f"{where} -> {str(other)[:60]}", other
    match value:
        case dict():
            for key, item in value.items():
                for what, changed in _changed(item, (*path, key), unordered):
                    yield what, {**value, key: changed}
                if (*path, key) not in NOT_COMPARED:
                    yield f"{where} without {key!r}", {k: v for k, v in value.items() if k != key}
            yield f"{where} with a junk key", {**value, "junk": None}
        case list():
            for i, item in enumerate(value):
                for what, changed in _changed(item, (*path, i), unordered):
                    yield what, [*value[:i], changed, *value[i + 1 :]]
                yield f"{where} without {i}", [*value[:i], *value[i + 1 :]]
                yield f"{where} with {i} twice", [*value[:i], item, *value[i:]]
                pair = {(*path, i - 1), (*path, i)}
                if i and value[i - 1] != item and not any(pair <= set(group) for group in unordered):
                    yield f"{where} with {i} moved up", [*value[: i - 1], item, value[i - 1], *value[i + 1 :]]


def _others(value: JsonValue) -> Iterator[Any]:
    """Values of the same place that are not this one."""
    match value:
        case bool():
            yield from (not value, None, int(value))
        case int() | float():
            yield from (value + 1, str(value), None)
        case str():
            yield from (f"{value}x", f" {value}", value[:-1] if value else "x", value.swapcase() + "!", None)
        case None:
            yield from ("", 0, False, {}, [])
        case dict():
            yield from (None, [])
        case list():
            yield from (None, {})
