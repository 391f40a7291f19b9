"""Reads only what a request adds to an earlier one.

An agent resends its whole history with every turn; reading all of it each time is quadratic (35 s for 2,000 turns).
Traces share the unchanged parts of requests as the same objects, so what is old is told by identity, which costs
next to nothing. A request that does not share is read whole, as if it were the first.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

from flowproof_addons.trace.model import JsonBody, JsonValue, Request

_REMEMBERED = 8


@dataclass(frozen=True, slots=True)
class Grown:
    """A request with the history it repeats left out."""

    request: Request
    thread: str
    """The conversation of the request it continues."""
    known: tuple[str, ...]
    """The calls whose results are in the part left out."""


class History:
    """The latest requests of each conversation."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[dict[str, JsonValue], tuple[str, ...]]] = {}

    def remember(self, request: Request, thread: str, known: tuple[str, ...]) -> None:
        """Note a request, the calls it carries results of included."""
        if isinstance(request.body, JsonBody) and isinstance(request.body.value, dict):
            self._last.pop(thread, None)
            self._last[thread] = (request.body.value, known)
            if len(self._last) > _REMEMBERED:
                del self._last[next(iter(self._last))]

    def grown(self, request: Request) -> Grown | None:
        """The request as what it adds to the latest one it continues, None when it continues none."""
        if not isinstance(request.body, JsonBody) or not isinstance(request.body.value, dict):
            return None
        for thread, (before, known) in reversed(self._last.items()):
            added = _added(before, request.body.value)
            if added is not None:
                return Grown(replace(request, body=JsonBody(added)), thread, known)
        return None


def _added(before: dict[str, JsonValue], now: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    """`now` with its one longer list cut to the new items, None where anything else differs."""
    if before.keys() != now.keys():
        return None
    differing = [key for key, value in now.items() if not _unchanged(before[key], value)]
    if len(differing) != 1:
        return None
    [key] = differing
    old, new = before[key], now[key]
    if not isinstance(old, list) or not isinstance(new, list) or not old or len(new) <= len(old):
        return None
    return {**now, key: new[len(old) :]} if all(map(operator.is_, old, new)) else None


def _unchanged(old: JsonValue, new: JsonValue) -> bool:
    """Containers must be the same object; comparing them is what this module avoids."""
    return old is new or (not isinstance(new, list | dict) and type(old) is type(new) and old == new)
