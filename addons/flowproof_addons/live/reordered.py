"""Parallel calls in the other order: what `record --twice` tries, because which of them ends first is chance.

A reply with several calls is served with them turned round. What the agent sends back of them is put in the recorded
order again, so that a request differs only where the agent itself goes by the order in which tools are called or end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from flowproof_addons.dialects.base import Dialect
from flowproof_addons.trace.json_value import compact
from flowproof_addons.trace.model import JsonBody, JsonValue, Reply, Request

_TYPES = ("tool_use", "function_call", "function", "server_tool_use", "custom_tool_call")


class Reordered:
    """The calls of one run that were turned round."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        """Of each call: which reply it was in, and where it stood there."""
        self.turns = 0
        """Replies turned round so far."""

    def served(self, reply: Reply, dialect: Dialect | None) -> Reply:
        """The reply as the agent gets it."""
        if dialect is None or not isinstance(reply.body, JsonBody):
            return reply
        if len(dialect.read_reply(reply.body.value).calls) < 2:
            return reply
        turned = _each_list(reply.body.value, self._turned)
        if turned is reply.body.value:
            return reply
        return replace(reply, body=JsonBody(turned), frames=None)

    def restored(self, request: Request) -> Request:
        """The request with the calls it repeats in their recorded order."""
        if not self._places or not isinstance(request.body, JsonBody):
            return request
        body = _each_list(request.body.value, self._sorted)
        return request if body is request.body.value else replace(request, body=JsonBody(body))

    def _turned(self, items: list[JsonValue], at: Sequence[int]) -> Sequence[int]:
        self.turns += 1
        self._places |= {_key(items[index]): (self.turns, place) for place, index in enumerate(at)}
        return at[::-1]

    def _sorted(self, items: list[JsonValue], at: Sequence[int]) -> Sequence[int]:
        """The calls of each reply change places among themselves, whatever stands between them."""
        replies: dict[int, list[int]] = {}
        for index in at:
            turn, _ = self._places.get(_key(items[index]), (-index, 0))
            replies.setdefault(turn, []).append(index)
        order = dict(zip(at, at, strict=True))
        for own in replies.values():
            order |= zip(own, sorted(own, key=lambda index: self._places.get(_key(items[index]), (0, 0))), strict=True)
        return [order[index] for index in at]


def _each_list(value: JsonValue, order: Callable[[list[JsonValue], Sequence[int]], Sequence[int]]) -> JsonValue:
    """The value with the calls of each list put into the order that is asked for; shares what holds none."""
    if isinstance(value, dict):
        members = {key: _each_list(child, order) for key, child in value.items()}
        return members if any(members[key] is not child for key, child in value.items()) else value
    if not isinstance(value, list):
        return value
    items = [_each_list(child, order) for child in value]
    at = [index for index, item in enumerate(items) if _is_call(item)]
    wanted = order(items, at) if len(at) > 1 else at
    if list(wanted) != at:
        changed = dict(zip(at, (items[index] for index in wanted), strict=True))
        return [_numbered(changed[i], value[i]) if i in changed else item for i, item in enumerate(items)]
    return items if any(new is not old for new, old in zip(items, value, strict=True)) else value


def _is_call(item: JsonValue) -> bool:
    if not isinstance(item, dict):
        return False
    if item.get("type") in _TYPES:
        return any(name in item for name in ("id", "call_id")) and "parameters" not in item
    return "functionCall" in item or (isinstance(item.get("function"), dict) and "type" not in item)


def _key(item: JsonValue) -> str:
    """A call's id; where the API has none, what is called with what."""
    assert isinstance(item, dict)
    inner = next((item[name] for name in ("functionCall", "function") if isinstance(item.get(name), dict)), item)
    assert isinstance(inner, dict)
    found = item.get("call_id") or item.get("id") or inner.get("id")
    if isinstance(found, str):
        return found
    return compact([inner.get("name"), inner.get("arguments"), inner.get("args")], sort_keys=True)


def _numbered(item: JsonValue, at: JsonValue) -> JsonValue:
    """A call in the place of another: with that place's number, where the API counts."""
    if isinstance(item, dict) and isinstance(at, dict) and isinstance(at.get("index"), int):
        return {**item, "index": at["index"]}
    return item
