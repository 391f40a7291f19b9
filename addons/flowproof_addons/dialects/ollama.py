"""Ollama's own chat API (it speaks Chat Completions as well).

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion (read 2026-12-02).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from flowproof_addons.dialects import delta, failing, raw, refusal, told
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

_STREAMED = ("thinking", "content")


class OllamaChat:
    """`POST .../api/chat`, which streams unless it is told not to."""

    name = "ollama-chat"
    framing: Literal["sse", "ndjson"] = "ndjson"
    base_url_variables: tuple[str, ...] = ("OLLAMA_BASE_URL",)  # OLLAMA_HOST may be an address to bind to
    key_variables: tuple[str, ...] = ("OLLAMA_API_KEY",)

    def claims(self, method: str, path: str) -> bool:
        return method == "POST" and path.rstrip("/").endswith("/api/chat")

    def authorize(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def wants_stream(self, request: Request) -> bool:
        return raw.of_body(request.body).get("stream") is not False

    def read_request(self, request: Request) -> ModelRequest:
        body = raw.of_body(request.body)
        messages = [raw.as_object(message) for message in raw.as_list(body.get("messages"))]
        roles = tuple(raw.as_text(message.get("role")) for message in messages)
        return ModelRequest(
            model=raw.as_text(body.get("model")),
            system="\n".join(raw.as_text(m.get("content")) for m in messages if m.get("role") == "system"),
            roles=roles,
            tools=tuple(raw.as_text(raw.at(tool, "function", "name")) for tool in raw.objects(body.get("tools"))),
            results=_results(messages),
            parallel=told.groups(("messages", index) for index, role in enumerate(roles) if role == "tool"),
        )

    def read_conversation(self, request: Request) -> tuple[Said, ...]:
        messages = [raw.as_object(message) for message in raw.as_list(raw.of_body(request.body).get("messages"))]
        said = (
            (role := raw.as_text(m.get("role")), None if role == "tool" else m.get("content"), _calls(m))
            for m in messages
        )
        return tuple(told.conversation(said, _results(messages)))

    def read_reply(self, body: JsonValue) -> ModelReply:
        reply = raw.as_object(body)
        message = raw.as_object(reply.get("message"))
        counts = raw.as_int(reply.get("prompt_eval_count")), raw.as_int(reply.get("eval_count"))
        return ModelReply(
            text=raw.as_text(message.get("content")) or None,
            calls=_calls(message),
            usage=Usage(*counts),
            model=raw.as_text(reply.get("model")),
            id="",
            stop=raw.as_text(reply.get("done_reason")) or None,
        )

    def assemble(self, events: Sequence[StreamEvent]) -> JsonValue:
        reply: Object | None = None
        for chunk in filter(None, map(_chunk, events)):
            reply = {} if reply is None else reply
            message = raw.as_object(reply.get("message"))
            delta.merge(message, raw.as_object(chunk.get("message")))
            delta.update(reply, {**chunk, "message": message})
        return reply

    def synthesise(self, body: JsonValue, request: Request) -> Sequence[StreamEvent]:
        return tuple(StreamEvent(raw.compact(chunk)) for chunk in _chunks(raw.as_object(body)))

    def substitute(self, body: JsonValue, results: Mapping[Path, Mock]) -> JsonValue:
        for path, mock in results.items():
            body = raw.replaced(body, path, told.written(raw.found(body, path), mock))
        return body

    def error(self, text: ErrorText) -> WireReply:
        return refusal.reply(400, {"error": text.message})

    def failure(self, status: int, message: str) -> JsonValue:
        return {"error": message}

    def spoil(self, body: JsonValue) -> JsonValue:
        for index, call in enumerate(raw.as_list(raw.at(body, "message", "tool_calls"))):
            if isinstance(given := raw.at(call, "function", "arguments"), dict):
                path = ("message", "tool_calls", index, "function", "arguments")
                body = raw.replaced(body, path, failing.broken(given))
        return body


def _chunks(reply: Object) -> Iterator[Object]:
    """The thoughts, the words, the calls, and last the counts."""
    message = raw.as_object(reply.get("message"))
    base: Object = {key: reply[key] for key in ("model", "created_at") if key in reply}
    silent: Object = {"role": message["role"]} if "role" in message else {}
    if isinstance(message.get("content"), str):
        silent["content"] = ""
    for key in _STREAMED:
        for piece in delta.pieces(raw.as_text(message.get(key))):
            yield {**base, "message": {**silent, key: piece}, "done": False}
    if calls := message.get("tool_calls"):
        yield {**base, "message": {**silent, "tool_calls": calls}, "done": False}
    said = {key for key in (*_STREAMED, "tool_calls") if message.get(key)}
    yield {**reply, "message": {k: v for k, v in message.items() if k not in said} | silent}


def _chunk(event: StreamEvent) -> Object | None:
    try:
        chunk = raw.as_object(raw.parse(event.data))
    except ValueError:
        return None  # a line cut in the middle
    return chunk if isinstance(chunk.get("message"), dict) else None


def _calls(message: Object) -> tuple[ToolCall, ...]:
    called = [raw.as_object(call.get("function")) for call in raw.objects(message.get("tool_calls"))]
    return tuple(
        ToolCall("", raw.as_text(call.get("name")), given, raw.compact(given))
        for call in called
        for given in [call.get("arguments", {})]
    )


def _results(messages: Sequence[Object]) -> tuple[ToolResult, ...]:
    """There are no ids: a result without `tool_name` answers the call at its place in the message before."""
    open_calls: list[str] = []
    found: list[ToolResult] = []
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            place = open_calls.pop(0) if open_calls else ""
            name = raw.as_text(message.get("tool_name")) or place
            content = told.read(message.get("content"))
            found.append(ToolResult("", name, content, False, ("messages", index, "content")))
        else:
            open_calls = [call.name for call in _calls(message)]
    return tuple(found)
