"""Evidence as the events of report format 0.1, and back: what other tools for that format can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import (
    ADAPTER,
    AnyEvent,
    Concluded,
    Confirmed,
    Decided,
    Denied,
    Discovered,
    Dispatched,
    Evidence,
    Returned,
)

type Row = dict[str, JsonValue]


def to_rows(events: Iterable[AnyEvent], started: datetime | None = None, *, enforced: bool = False) -> list[JsonValue]:
    """The events of an adapter run, numbered from 1; `seq` of a finding is the `seq` in these rows.

    Without `started` nothing is said of time, so that two equal runs have equal rows.
    """
    rows: list[JsonValue] = []
    for event in events:
        for row in _rows(event, "enforce" if enforced else "observe"):
            placed: Row = {**row, "seq": event.seq, "sequence": len(rows) + 1}
            if event.turn is not None:
                placed["turn"] = event.turn
            if started is None:
                placed.pop("durationMs", None)
            else:
                at = started + timedelta(milliseconds=event.at_ms or 0.0)
                placed["timestamp"] = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            rows.append(placed)
    return rows


def from_rows(rows: Sequence[JsonValue], *, complete: bool, duration_ms: float | None = None) -> Evidence:
    """The evidence of a report, ours or any of format 0.1."""
    events: list[AnyEvent] = []
    calls: dict[str, Mapping[str, JsonValue]] = {}
    for row in rows:
        if isinstance(row, dict):
            event = _event(row, len(events), calls)
            if event is not None:
                turn = row.get("turn")
                events.append(replace(event, turn=turn if isinstance(turn, int) else None))
    return Evidence(tuple(events), frozenset({ADAPTER}), duration_ms=duration_ms, complete=complete)


def _rows(event: AnyEvent, mode: str) -> Iterator[Row]:
    match event:
        case Decided():
            yield {"type": "tool_call", "callId": event.call, "tool": event.tool, "arguments": event.arguments}
            yield _lifecycle(event, "requested", mode)
        case Denied(reason=reason):
            yield {**_lifecycle(event, "denied", mode), "reason": reason}
        case Dispatched():
            if mode == "enforce":
                yield _lifecycle(event, "authorized", mode)
            yield _lifecycle(event, "dispatched", mode)
        case Returned():
            yield _result(event)
            yield _lifecycle(event, "completed", mode)
        case Confirmed():
            row: Row = {"type": "confirmation", "confirmed": event.granted, "tool": event.tool, "source": event.id}
            yield row if event.arguments is None else {**row, "arguments": event.arguments}
        case Concluded():
            yield {"type": "final", "status": event.status, "output": event.output}
        case Discovered():
            yield {
                "type": "mcp_discovery",
                "server": event.lane,
                "capabilities": event.capabilities,
                "tools": list(event.tools),
            }
        case _:
            return


def _lifecycle(event: Decided | Dispatched | Denied | Returned, state: str, mode: str) -> Row:
    return {"type": "tool_lifecycle", "callId": event.call, "tool": event.tool, "state": state, "mode": mode}


def _result(event: Returned) -> Row:
    row: Row = {
        "type": "tool_result",
        "callId": event.call,
        "tool": event.tool,
        "result": event.result,
        "source": "fixture" if event.mocked else "backend",
        "durationMs": event.duration_ms,
    }
    if event.lane != ADAPTER:
        row["server"] = event.lane
    if event.size_bytes is not None:
        row["resultBytes"] = event.size_bytes
    if event.is_error:
        row["isError"] = True
    if event.fixture_miss:
        row["fixtureMiss"] = True
    return row


def _event(row: Mapping[str, JsonValue], seq: int, calls: dict[str, Mapping[str, JsonValue]]) -> AnyEvent | None:
    id, tool = str(row.get("callId", "")), str(row.get("tool", ""))
    match row.get("type"):
        case "tool_call":
            calls[id] = row
            arguments = row.get("arguments")
            return Decided(
                seq=seq, lane=ADAPTER, call=id, tool=tool, arguments=arguments, arguments_text="", thread="", group=seq
            )
        case "tool_lifecycle":
            return _stage(row, seq, id, tool, calls.get(id, {}).get("arguments"))
        case "tool_result":
            return Returned(
                seq=seq,
                lane=str(row.get("server") or ("mcp" if row.get("source") == "mcp" else ADAPTER)),
                call=id,
                tool=tool,
                result=row.get("result"),
                is_error=row.get("isError") is True,
                mocked=row.get("source") == "fixture",
                duration_ms=_number(row.get("durationMs")),
                size_bytes=size if isinstance(size := row.get("resultBytes"), int) else None,
                fixture_miss=row.get("fixtureMiss") is True,
            )
        case "confirmation":
            granted = row.get("confirmed") is True
            return Confirmed(
                seq=seq, lane=ADAPTER, call=None, tool=tool, arguments=row.get("arguments"), granted=granted
            )
        case "final":
            status = row.get("status")
            return Concluded(seq=seq, lane=ADAPTER, status=str(status), output=row.get("output"))
        case "mcp_discovery":
            tools = row.get("tools")
            return Discovered(
                seq=seq,
                lane=str(row.get("server") or "mcp"),
                capabilities=row.get("capabilities"),
                tools=tuple(tools) if isinstance(tools, list) else (),
            )
        case _:
            return None


def _number(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _stage(row: Mapping[str, JsonValue], seq: int, id: str, tool: str, arguments: JsonValue) -> AnyEvent | None:
    match row.get("state"):
        case "dispatched":
            return Dispatched(seq=seq, lane=ADAPTER, call=id, tool=tool, arguments=arguments)
        case "denied":
            reason = str(row.get("reason", ""))
            return Denied(seq=seq, lane=ADAPTER, call=id, tool=tool, arguments=arguments, reason=reason)
        case _:
            return None
