"""Approvals a lane can see: answers of a tool that asks a person. One approval is good for one call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.lane import Call
from flowproof_addons.mcp.message import Message
from flowproof_addons.session import McpConfirm
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonValue

_YES = ("yes", "y", "approved", "true")
_FLAGS = ("approved", "confirmed", "accepted", "granted")


@dataclass(slots=True)
class Approvals:
    """The approvals of one run, unused ones in the order they were given."""

    askers: frozenset[str]
    """Names of the tools that ask."""
    _given: list[tuple[str, JsonValue]] = field(default_factory=list)

    @staticmethod
    def asked_by(rules: Iterable[McpConfirm]) -> Approvals:
        """None given yet."""
        return Approvals(frozenset(rule.by for rule in rules if rule.by))

    def heard(self, call: Call) -> None:
        """A call was answered; if its tool asks, that is an approval, or takes back what it names."""
        asker = rpc.tool(call.method, call.params)
        if asker not in self.askers or call.outcome is None:
            return
        about = _about(call.params.get("arguments"))
        if approves(call.outcome):
            self._given.append((asker, about))
        else:
            self._given = [g for g in self._given if g[0] != asker or not json_value.same(g[1], about)]

    def use(self, rule: McpConfirm, arguments: JsonValue) -> bool:
        """Use the latest approval that fits this call up; False if there is none."""
        for index in range(len(self._given) - 1, -1, -1):
            asker, about = self._given[index]
            if asker == rule.by and (not rule.bound or json_value.same(about, arguments or {})):
                del self._given[index]
                return True
        return False


def approves(outcome: Message) -> bool:
    """True for a yes in one of its usual forms."""
    result = outcome.get("result")
    if not isinstance(result, dict) or result.get("isError") is True:
        return False
    return _yes(result.get("structuredContent")) or any(_yes(_said(block)) for block in _list(result.get("content")))


def _said(block: JsonValue) -> JsonValue:
    text = block.get("text") if isinstance(block, dict) else None
    if not isinstance(text, str):
        return None
    try:
        return json_value.parse(text)
    except json_value.JsonError:
        return text


def _yes(value: JsonValue) -> bool:
    if isinstance(value, dict):
        inner = value.get("result") if list(value) == ["result"] else None
        return value.get("action") == "accept" or any(value.get(f) is True for f in _FLAGS) or _yes(inner)
    return value is True or (isinstance(value, str) and value.strip().lower() in _YES)


def _about(arguments: JsonValue) -> JsonValue:
    """What a person was shown: the `arguments` among the asker's own arguments if it has them, else all of them."""
    if isinstance(arguments, dict) and isinstance(arguments.get("arguments"), dict):
        return arguments["arguments"]
    return arguments or {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
