"""A lane as evidence: what reached the server, what it answered, what was refused before it got there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp.lane import Call, Lane
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.build import LaneReader, LaneReport, Placed
from flowproof_runner.evidence.model import Decided, Denied, Dispatched, Returned
from flowproof_runner.evidence.names import named
from flowproof_runner.mcp.rounds import CALL, whole
from flowproof_runner.mcp.told import confirmed, discovered


def reader(name: str, value: JsonValue, declared: Iterable[str] = ()) -> LaneReader:
    """Reads one recorded lane. `declared`: the spec's own tools of this server.

    Raises LaneFileError if `value` is no lane.
    """
    lane = lane_file.load(name, value)

    def read(decided: tuple[Decided, ...]) -> LaneReport:
        joins = _Joins(name, decided)
        events = [
            replace(placed, event=replace(placed.event, user_turn=call.user_turn))
            for number, call in enumerate(whole(lane))
            for placed in _events(name, number, call, joins)
        ]
        events[:0] = discovered(name, lane)
        return LaneReport(name, frozenset({*_offered(lane), *declared}), tuple(events))

    return read


@dataclass(slots=True)
class _Joins:
    """Which of the model's decisions a dispatched call carries out: by id where the client passes it on, else the
    earliest equal one that nothing has carried out yet."""

    lane: str
    decided: Sequence[Decided]
    _taken: set[str] = field(default_factory=set)

    def of(self, tool: str, call: Call) -> Decided | None:
        """The decision, which is then taken; None for a call the agent makes by itself."""
        before = [d for d in self.decided if d.call not in self._taken and (d.turn or 0) <= call.turns]
        found = next((d for d in before if call.tool_use and d.call == call.tool_use), None)
        found = found or next((d for d in before if self._equal(d, tool, call.params.get("arguments"))), None)
        if found is not None:
            self._taken.add(found.call)
        return found

    def _equal(self, decision: Decided, tool: str, arguments: JsonValue) -> bool:
        return tool in named(decision.tool, self.lane) and json_value.same(decision.arguments, arguments or {})


def _offered(lane: Lane) -> Iterator[str]:
    for listing in lane.catalogue:
        result = listing.outcome.get("result")
        tools = result.get("tools") if listing.method == "tools/list" and isinstance(result, dict) else None
        for tool in tools if isinstance(tools, list) else []:
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                yield str(tool["name"])
    yield from (str(call.params.get("name", "")) for call in lane.calls if call.method == CALL)


def _events(lane: str, number: int, call: Call, joins: _Joins) -> Iterator[Placed]:
    tool, arguments = str(call.params.get("name", "")), call.params.get("arguments") or {}
    decision = joins.of(tool, call)
    identity = decision.call if decision else f"{lane}#{number + 1}"
    known = decision.known if decision else ()
    if call.by == "enforce":
        reason = str(_result(call.outcome)[0])
        denied = Denied(seq=0, lane=lane, turn=call.turns, call=identity, tool=tool, arguments=arguments, reason=reason)
        yield Placed(call.turns, call.opened, denied)
        return
    dispatched = Dispatched(
        seq=0, lane=lane, turn=call.turns, call=identity, tool=tool, arguments=arguments, known=known
    )
    yield Placed(call.turns, call.opened, dispatched)
    yield from confirmed(lane, call, identity)
    if call.outcome is not None and call.closed is not None:
        result, is_error = _result(call.outcome)
        returned = Returned(
            seq=0,
            lane=lane,
            turn=call.turns,
            call=identity,
            tool=tool,
            result=result,
            is_error=is_error,
            mocked=call.by == "spec",
            fault=call.by == "fault",
            duration_ms=float(call.ms),
            size_bytes=len(json_value.compact(dict(call.outcome)).encode("utf-8", "surrogatepass")),
        )
        yield Placed(call.turns, call.closed, returned)


def _result(outcome: Mapping[str, JsonValue] | None) -> tuple[JsonValue, bool]:
    """What a call came to, as plain a value as it has: structured content, JSON text, text, or the content list."""
    if outcome is None or "error" in outcome:
        return (outcome or {}).get("error"), True
    result = outcome.get("result")
    if not isinstance(result, dict):
        return result, False
    is_error = result.get("isError") is True
    if result.get("structuredContent") is not None:
        return result["structuredContent"], is_error
    content = result.get("content")
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        text = content[0].get("text")
        if content[0].get("type") == "text" and isinstance(text, str):
            return _parsed(text), is_error
    return content, is_error


def _parsed(text: str) -> JsonValue:
    try:
        return json_value.parse(text)
    except json_value.JsonError:
        return text
