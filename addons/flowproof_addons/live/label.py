"""One line about a turn or an MCP call: what stands beside it in mitmweb's list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flowproof_addons.dialects.base import ModelReply, ToolCall
from flowproof_addons.live.outline import scalar
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonValue

_VALUE = 40
_LINE = 160


def turn(number: int | None, dialect: str, reply: ModelReply | None, *, status: int = 200) -> str:
    """`turn 3 · openai-chat · search_flights(destination: NBO)`."""
    return _joined([f"turn {number}" if number else "turn", dialect, _said(reply, status)])


def diverged(number: int | None, headline: str) -> str:
    """The turn that left the recording."""
    start = f"turn {number}" if number else "side call"
    told = headline.startswith((start, "user turn"))
    return _joined(["✗ diverged", headline if told else f"{start}: {headline}"])


def mcp(server: str, method: str, tool: str, arguments: JsonValue, outcome: str = "") -> str:
    """`mcp filesystem · read_file(path: notes.md)`."""
    return _joined([f"mcp {server}", called(tool, arguments) if tool else method, outcome])


def called(tool: str, arguments: JsonValue) -> str:
    """A call in one line."""
    if not isinstance(arguments, dict):
        return f"{tool}({_short(arguments)})"
    return f"{tool}({', '.join(f'{name}: {_short(value)}' for name, value in arguments.items())})"


def _said(reply: ModelReply | None, status: int) -> str:
    if status >= 400 or status == 0:
        return f"✗ answered {status}" if status else "no answer: the agent hung up"
    if reply is None:
        return ""
    calls = _calls(reply.calls)
    words = reply.text or reply.refusal
    return calls or (f'"{_clipped(" ".join(words.split()), 100)}"' if words else "")


def _calls(calls: Sequence[ToolCall]) -> str:
    return ", ".join(called(call.name, call.arguments) for call in calls)


def _short(value: JsonValue) -> str:
    shown = json_value.compact(value) if isinstance(value, dict | list) else scalar(value)
    return _clipped(shown, _VALUE)


def _joined(parts: Iterable[str]) -> str:
    return _clipped(" · ".join(" ".join(part.split()) for part in parts if part), _LINE)


def _clipped(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
