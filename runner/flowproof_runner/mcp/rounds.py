"""Calls of a lane as an agent sees them: one, however many rounds of questions it took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from flowproof_addons.mcp.lane import Call, Lane
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonValue

CALL = "tools/call"
_ROUND = ("inputResponses", "requestState")


def whole(lane: Lane) -> Iterator[Call]:
    """The lane's tool calls. In the era of 2026 a call that needs input is sent again with it: that is one call."""
    waiting: list[Call] = []
    for call in lane.calls:
        if call.method != CALL:
            continue
        earlier = next((w for w in waiting if _again(w, call)), None)
        if earlier is not None:
            waiting.remove(earlier)
            call = _joined(earlier, call)
        if _asks(call):
            waiting.append(call)
        else:
            yield call
    yield from waiting


def _asks(call: Call) -> bool:
    result = (call.outcome or {}).get("result")
    return isinstance(result, dict) and result.get("resultType") == "input_required"


def _again(earlier: Call, call: Call) -> bool:
    return any(name in call.params for name in _ROUND) and json_value.same(_plain(earlier.params), _plain(call.params))


def _plain(params: Mapping[str, JsonValue]) -> JsonValue:
    return {name: value for name, value in params.items() if name not in _ROUND}


def _joined(earlier: Call, call: Call) -> Call:
    """The later round, dating from the first; what the person took to answer is not the server's time."""
    return replace(
        call,
        opened=earlier.opened,
        turns=earlier.turns,
        frames=(*earlier.frames, *call.frames),
        tool_use=earlier.tool_use or call.tool_use,
        ms=earlier.ms + call.ms,
    )
