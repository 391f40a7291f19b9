"""The JSON Lines an adapter speaks: one object a line, a call answered before the next action.

To the adapter: `run_start`, `tool_result`, `tool_denied` (only if it said hello and that it understands it).
From the adapter: `hello`, `tool_call`, `confirmation`, `final`. The lines of protocol 0.1 are a subset.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from flowproof_addons.trace.model import JsonValue

VERSIONS = {"FLOWPROOF_ADAPTER_PROTOCOL": "1", "AGENTDOCTOR_PROTOCOL": "0.1"}
"""Environment that tells an adapter what it may speak; the second name is what existing adapters look for."""


MAX_DEPTH = 200
"""Levels of arrays and objects in a message."""


class ProtocolViolation(ValueError):
    """The adapter broke the protocol; the message says how."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The adapter's abilities, before anything else."""

    understands: frozenset[str]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The adapter asks for a tool."""

    id: str
    tool: str
    arguments: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The adapter attests that somebody was asked."""

    tool: str
    confirmed: bool
    arguments: dict[str, JsonValue] | None
    source: str


@dataclass(frozen=True, slots=True)
class Final:
    """The adapter's declared outcome; nothing may follow."""

    status: str
    output: JsonValue


type Message = Hello | ToolCall | Confirmation | Final


def parse(line: bytes) -> Message:
    """Read one line.

    Raises ProtocolViolation if it is no message of this protocol.
    """
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except RecursionError as error:
        raise ProtocolViolation(f"a line on stdout is nested too deeply: {_shown(line)}") from error
    except ValueError as error:
        raise ProtocolViolation(f"a line on stdout is not JSON: {_shown(line)}") from error
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH and _deeper(value, MAX_DEPTH):
        raise ProtocolViolation(f"a line on stdout is nested deeper than {MAX_DEPTH} levels: {_shown(line)}")
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise ProtocolViolation(f"a line on stdout is not an object with a type: {_shown(line)}")
    message = _message(value)
    if message is None:
        raise ProtocolViolation(f"a line on stdout is no message of the protocol: {_shown(line)}")
    return message


def run_start(scenario: str, message: str, data: JsonValue, *, has_data: bool) -> bytes:
    """The first line, once."""
    given: dict[str, JsonValue] = {"message": message}
    if has_data:
        given["data"] = data
    return _line({"type": "run_start", "scenarioId": scenario, "input": given})


def tool_result(call: ToolCall, result: JsonValue) -> bytes:
    """The answer to a call."""
    return _line({"type": "tool_result", "callId": call.id, "tool": call.tool, "result": result})


def tool_denied(call: ToolCall, reason: str) -> bytes:
    """A call that was refused before dispatch."""
    return _line({"type": "tool_denied", "callId": call.id, "tool": call.tool, "reason": reason})


def _message(value: dict[str, JsonValue]) -> Message | None:
    match value:
        case {"type": "hello", "understands": list(words)} if all(isinstance(word, str) for word in words):
            return Hello(frozenset(map(str, words)))
        case {"type": "tool_call", "callId": str(id), "tool": str(tool)} if id and tool:
            arguments = value.get("arguments", {})
            return ToolCall(id, tool, arguments) if isinstance(arguments, dict) else None
        case {"type": "confirmation", "confirmed": bool(confirmed), "tool": str(tool)} if tool:
            return _confirmation(value, tool, confirmed)
        case {"type": "final", "status": str(status)} if status:
            return Final(status, value.get("output"))
        case _:
            return None


def _confirmation(value: dict[str, JsonValue], tool: str, confirmed: bool) -> Confirmation | None:
    source, arguments = value.get("source", ""), value.get("arguments")
    if not isinstance(source, str) or ("arguments" in value and not isinstance(arguments, dict)):
        return None
    return Confirmation(tool, confirmed, arguments if isinstance(arguments, dict) else None, source)


def _no_number(name: str) -> JsonValue:
    """Python's JSON knows NaN and Infinity; JSON does not."""
    raise ValueError(f"{name} is no JSON")


def _deeper(value: JsonValue, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [inner for each in level if isinstance(each, dict | list) for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: dict[str, JsonValue] | list[JsonValue]) -> Iterable[JsonValue]:
    return value.values() if isinstance(value, dict) else value


def _line(value: dict[str, JsonValue]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"  # half a character is written as JSON writes it


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 200 else text[:200] + "…")
