"""MCP messages as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flowproof_addons.live.outline import entry, outline
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.message import Message
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonValue

_ENVELOPE = ("jsonrpc", "id", "method", "params", "result", "error")


def transcript(messages: Iterable[Message], remark: str = "") -> str:
    """The messages of one HTTP body, or of one side of a call."""
    lines = [f"# {remark}"] if remark else []
    for message in messages:
        lines += ["", *_message(message)] if lines else list(_message(message))
    return "\n".join(lines) + "\n"


def _message(message: Message) -> Iterator[str]:
    method, tool = rpc.method(message), rpc.tool(rpc.method(message), rpc.params(message))
    if tool:
        yield from entry(f"{method} {tool}", rpc.params(message).get("arguments") or {})
        yield from _members({k: v for k, v in rpc.params(message).items() if k not in ("name", "arguments")})
    elif method:
        yield from entry(method, dict(rpc.params(message)))
    elif "error" in message:
        yield from entry("error", message["error"])
    else:
        yield from _result(message.get("result"))
    yield from _members({key: value for key, value in message.items() if key not in _ENVELOPE})


def _result(result: JsonValue) -> Iterator[str]:
    """A result with its text parts as text; what the same text says again in `structuredContent` is said once."""
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        yield from entry("result", result)
        return
    if result.get("isError") is True:
        yield "# the tool says that it failed"
    yield from entry("result", _content(result["content"], "structuredContent" in result))
    yield from _members({key: value for key, value in result.items() if key not in ("content", "isError")})


def _content(content: JsonValue, structured: bool) -> JsonValue:
    parts = [_part(part) for part in content] if isinstance(content, list) else []
    if structured and all(isinstance(part, dict) for part in parts):
        return "as structuredContent says" if parts else []
    return parts[0] if len(parts) == 1 else parts


def _part(part: JsonValue) -> JsonValue:
    if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
        return part
    text = str(part["text"])
    try:
        return json_value.parse(text) if text.lstrip()[:1] in ("{", "[") else text
    except json_value.JsonError:
        return text


def _members(members: Mapping[str, JsonValue]) -> Iterator[str]:
    if members:
        yield from outline(dict(members))
