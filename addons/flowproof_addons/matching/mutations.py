"""A self-test for strictness: every way to change a recorded request by a little, each of which must diverge.

A cassette matcher that lets a changed request through tests nothing. `survivors` names the changes that would.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from flowproof_addons.dialects.base import Registry
from flowproof_addons.matching.canonical import NOT_COMPARED
from flowproof_addons.matching.matcher import Hit, Matcher
from flowproof_addons.matching.paths import written
from flowproof_addons.session import Pin
from flowproof_addons.trace.body import wire
from flowproof_addons.trace.json_value import Number, same
from flowproof_addons.trace.model import Body, BytesBody, Exchange, JsonBody, JsonValue, MultipartBody, Part, Request
from flowproof_addons.trace.pointer import Path, put

_ADDED = "flowproof_mutation"


def mutations(request: Request) -> Iterator[tuple[str, Request]]:
    """Every small change of a request, with its description: `messages[0].content: changed`."""
    yield "method: changed", replace(request, method="PUT" if request.method == "POST" else "POST")
    yield "path: changed", replace(request, path=request.path + "x")
    yield "query: changed", replace(request, query=request.query + "&x=1" if request.query else "x=1")
    for description, body in _bodies(request.body):
        data = wire(body, "")
        yield description, replace(request, body=body, digest=hashlib.sha256(data).hexdigest())


def survivors(exchange: Exchange, registry: Registry, pins: Sequence[Pin] = ()) -> list[str]:
    """The changes of a recorded request that its recording would still answer.

    Leaves out what is not compared by decree (`NOT_COMPARED`, the order of parallel results).
    """
    dialect = registry.named(exchange.dialect) if exchange.dialect else None
    allowed = set(NOT_COMPARED) if dialect else set()
    swaps = set(_free_swaps(exchange, registry))
    found: list[str] = []
    matcher = _matcher(exchange, registry, pins)
    for description, request in mutations(exchange.request):
        if description.partition(":")[0].partition(".")[0] in allowed or description in swaps:
            continue
        if isinstance(matcher.match(request, dialect), Hit):
            found.append(description)
            matcher = _matcher(exchange, registry, pins)
    return found


def _matcher(exchange: Exchange, registry: Registry, pins: Sequence[Pin]) -> Matcher:
    return Matcher([exchange], pins, registry, clock=lambda: dt.datetime(2000, 1, 1, tzinfo=dt.UTC))


def _free_swaps(exchange: Exchange, registry: Registry) -> Iterator[str]:
    dialect = registry.named(exchange.dialect) if exchange.dialect else None
    for group in dialect.read_request(exchange.request).parallel if dialect else ():
        yield from (f"{written(place)}: swapped with the next" for place in group if _next(place) in group)


def _next(place: Path) -> Path:
    last = place[-1]
    return (*place[:-1], last + 1) if isinstance(last, int) else place


def _bodies(body: Body) -> Iterator[tuple[str, Body]]:
    match body:
        case JsonBody(value):
            for description, changed in _values(value, ()):
                yield description, JsonBody(changed(value))
        case MultipartBody(parts):
            for description, others in _parts(parts):
                yield description, MultipartBody(others)
        case BytesBody(data):
            yield "body: byte added", BytesBody(data + b"x")
            if data:
                yield "body: byte removed", BytesBody(data[:-1])
                yield "body: byte changed", BytesBody(bytes([data[0] ^ 1]) + data[1:])


def _values(value: JsonValue, place: Path) -> Iterator[tuple[str, _Change]]:
    name = written(place)
    if isinstance(value, dict):
        yield f"{written((*place, _ADDED))}: added", _Change(place, {**value, _ADDED: None})
        for key, child in value.items():
            rest = {other: value[other] for other in value if other != key}
            yield f"{written((*place, key))}: removed", _Change(place, rest)
            yield from _values(child, (*place, key))
    elif isinstance(value, list):
        yield f"{written((*place, len(value)))}: added", _Change(place, [*value, None])
        for index, item in enumerate(value):
            yield f"{written((*place, index))}: removed", _Change(place, value[:index] + value[index + 1 :])
            yield f"{written((*place, index))}: doubled", _Change(place, [*value[: index + 1], *value[index:]])
            if index + 1 < len(value) and not same(item, value[index + 1]):
                swapped = [*value[:index], value[index + 1], item, *value[index + 2 :]]
                yield f"{written((*place, index))}: swapped with the next", _Change(place, swapped)
            yield from _values(item, (*place, index))
    else:
        for how, leaf in _leaves(value):
            yield f"{name}: {how}", _Change(place, leaf)


class _Change:
    """A value with one place changed; made only when it is asked for."""

    def __init__(self, place: Path, new: JsonValue) -> None:
        self._place = place
        self._new = new

    def __call__(self, value: JsonValue) -> JsonValue:
        return put(value, self._place, self._new)


def _leaves(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    match value:
        case None:
            yield "null made empty", ""
        case bool():
            yield "changed", not value
            yield "made a number", int(value)
        case str():
            yield "changed", value + "x"
            yield "white space added", value + " "
            yield "made null", None
            if value:
                yield "cut", value[1:]
                yield "made a list of text", [{"type": "text", "text": value}]
        case int():
            yield "changed", value + 1
            yield "literal changed", Number(f"{value}.0")
            yield "made text", str(value)
        case float():
            yield "changed", value + 1
            yield "literal changed", Number(f"{value!r}0" if "." in repr(value) else f"{float(value):.3f}")


def _parts(parts: tuple[Part, ...]) -> Iterator[tuple[str, tuple[Part, ...]]]:
    yield "part added", (*parts, Part((), b""))
    for index, part in enumerate(parts):
        head, tail = parts[:index], parts[index + 1 :]
        yield f"part {index}: removed", head + tail
        yield f"part {index}: data changed", (*head, Part(part.headers, part.data + b"x"), *tail)
        yield f"part {index}: header added", (*head, Part((*part.headers, ("x", "1")), part.data), *tail)
        if part.headers:
            yield f"part {index}: header removed", (*head, Part(part.headers[1:], part.data), *tail)
        if tail and tail[0] != part:
            yield f"part {index}: swapped with the next", (*head, tail[0], part, *tail[1:])
