"""OpenAI Chat Completions, and the many APIs that speak it.

https://platform.openai.com/docs/api-reference/chat (read 2026-12-02).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from flowproof_addons.dialects import failing, raw, refusal, told
from flowproof_addons.dialects import openai_chat_stream as stream
from flowproof_addons.dialects.base import (
    ErrorText,
    Mock,
    ModelReply,
    ModelRequest,
    Said,
    StreamEvent,
    ToolCall,
    ToolResult,
    Usage,
    WireReply,
)
from flowproof_addons.dialects.raw import Path
from flowproof_addons.trace.model import JsonValue, Request

type Object = dict[str, JsonValue]


class OpenAIChat:
    """`POST .../chat/completions`."""

    name = "openai-chat"
    framing: Literal["sse", "ndjson"] = "sse"
    base_url_variables: tuple[str, ...] = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
    key_variables: tuple[str, ...] = ("OPENAI_API_KEY",)

    def claims(self, method: str, path: str) -> bool:
        return method == "POST" and path.rstrip("/").endswith("/chat/completions")

    def authorize(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def wants_stream(self, request: Request) -> bool:
        return raw.of_body(request.body).get("stream") is True

    def read_request(self, request: Request) -> ModelRequest:
        body = raw.of_body(request.body)
        messages = raw.as_list(body.get("messages"))
        roles = tuple(raw.as_text(raw.at(message, "role")) for message in messages)
        return ModelRequest(
            model=raw.as_text(body.get("model")),
            system="\n".join(
                raw.text_of(raw.at(message, "content"))
                for message, role in zip(messages, roles, strict=True)
                if role in ("system", "developer")
            ),
            roles=roles,
            tools=tuple(
                _tool_name(tool) for tool in raw.objects(body.get("tools")) + raw.objects(body.get("functions"))
            ),
            results=_results(messages),
            parallel=told.groups(("messages", index) for index, role in enumerate(roles) if role == "tool"),
        )

    def read_conversation(self, request: Request) -> tuple[Said, ...]:
        messages = raw.as_list(raw.of_body(request.body).get("messages"))
        items = [raw.as_object(message) for message in messages]
        said = (
            (role := raw.as_text(m.get("role")), None if role in ("tool", "function") else m.get("content"), _calls(m))
            for m in items
        )
        return tuple(told.conversation(said, _results(messages)))

    def read_reply(self, body: JsonValue) -> ModelReply:
        messages = [raw.as_object(choice.get("message")) for choice in raw.objects(raw.at(body, "choices"))]
        first = messages[0] if messages else {}
        stop = [choice.get("finish_reason") for choice in raw.objects(raw.at(body, "choices"))]
        usage = raw.as_object(raw.at(body, "usage"))
        return ModelReply(
            text=raw.text_of(first.get("content")) or None,
            calls=tuple(call for message in messages for call in _calls(message)),
            usage=Usage(*(raw.as_int(usage.get(f"{kind}_tokens")) for kind in ("prompt", "completion", "total"))),
            model=raw.as_text(raw.at(body, "model")),
            id=raw.as_text(raw.at(body, "id")),
            stop=raw.as_text(stop[0]) or None if stop else None,
            refusal=raw.as_text(first.get("refusal")) or None,
        )

    def assemble(self, events: Sequence[StreamEvent]) -> JsonValue:
        return stream.assemble(events)

    def synthesise(self, body: JsonValue, request: Request) -> Sequence[StreamEvent]:
        asked = raw.at(raw.of_body(request.body), "stream_options", "include_usage") is True
        return tuple(stream.synthesise(raw.as_object(body), usage=asked))

    def substitute(self, body: JsonValue, results: Mapping[Path, Mock]) -> JsonValue:
        for path, mock in results.items():
            body = raw.replaced(body, path, told.written(raw.found(body, path), mock))
        return body

    def error(self, text: ErrorText) -> WireReply:
        shown: Object = {"message": text.message, "type": "invalid_request_error", "param": None, "code": text.code}
        return refusal.reply(400, {"error": shown})

    def failure(self, status: int, message: str) -> JsonValue:
        return failing.openai(status, message)

    def spoil(self, body: JsonValue) -> JsonValue:
        for place, choice in enumerate(raw.as_list(raw.at(body, "choices"))):
            for index, call in enumerate(raw.as_list(raw.at(choice, "message", "tool_calls"))):
                given = "custom" if raw.as_object(raw.at(call, "custom")) else "function"
                key = "input" if given == "custom" else "arguments"
                if isinstance(text := raw.at(call, given, key), str):
                    path = ("choices", place, "message", "tool_calls", index, given, key)
                    body = raw.replaced(body, path, failing.broken(text))
        return body


def _tool_name(tool: Object) -> str:
    """Functions and custom tools have names, hosted tools only a type; legacy `functions` are bare."""
    kind = raw.as_text(tool.get("type"))
    return raw.as_text(raw.at(tool, kind, "name")) or raw.as_text(tool.get("name")) or kind


def _calls(message: Object) -> list[ToolCall]:
    calls = [_call(call) for call in raw.objects(message.get("tool_calls"))]
    legacy = message.get("function_call")
    return [*calls, _call({"function": legacy})] if isinstance(legacy, dict) else calls


def _call(call: Object) -> ToolCall:
    custom = raw.as_object(call.get("custom"))
    called = custom or raw.as_object(call.get("function"))
    text = raw.as_text(called.get("input" if custom else "arguments"))
    return ToolCall(raw.as_text(call.get("id")), raw.as_text(called.get("name")), raw.arguments(text), text)


def _results(messages: Sequence[JsonValue]) -> tuple[ToolResult, ...]:
    names: dict[str, str] = {}
    found: list[ToolResult] = []
    for index, message in enumerate(raw.as_object(item) for item in messages):
        names |= {call.id: call.name for call in _calls(message)}
        if message.get("role") in ("tool", "function"):
            call_id = raw.as_text(message.get("tool_call_id"))
            name = names.get(call_id, "") or raw.as_text(message.get("name"))
            content = told.read(message.get("content"))
            found.append(ToolResult(call_id, name, content, False, ("messages", index, "content")))
    return tuple(found)
