"""Anthropic Messages.

https://docs.anthropic.com/en/api/messages (read 2026-12-02).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from flowproof_addons.dialects import anthropic_messages_stream as stream
from flowproof_addons.dialects import failing, raw, refusal, told
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

_FAILURES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""https://docs.anthropic.com/en/api/errors (read 2026-12-02)."""
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class AnthropicMessages:
    """`POST .../messages`, but not its `count_tokens` and `batches`, which are side calls."""

    name = "anthropic-messages"
    framing: Literal["sse", "ndjson"] = "sse"
    base_url_variables: tuple[str, ...] = ("ANTHROPIC_BASE_URL",)
    key_variables: tuple[str, ...] = ("ANTHROPIC_API_KEY",)

    def claims(self, method: str, path: str) -> bool:
        segments = path.strip("/").split("/")
        foreign = segments[-3:-2] == ["threads"]  # OpenAI's /v1/threads/{id}/messages
        return method == "POST" and segments[-1] == "messages" and not foreign

    def authorize(self, key: str) -> Mapping[str, str]:
        return {"x-api-key": key}

    def wants_stream(self, request: Request) -> bool:
        return raw.of_body(request.body).get("stream") is True

    def read_request(self, request: Request) -> ModelRequest:
        body = raw.of_body(request.body)
        messages = [raw.as_object(message) for message in raw.as_list(body.get("messages"))]
        roles = tuple(raw.as_text(message.get("role")) for message in messages)
        said = [body.get("system"), *(m.get("content") for m in messages if m.get("role") in ("system", "developer"))]
        paths = [path for path, _ in _result_blocks(messages)]
        return ModelRequest(
            model=raw.as_text(body.get("model")),
            system="\n".join(text for content in said for text in _texts(content)),
            roles=roles,
            tools=tuple(
                raw.as_text(tool.get("name")) or raw.as_text(tool.get("type"))
                for tool in raw.objects(body.get("tools"))
            ),
            results=_results(messages),
            parallel=_groups(paths),
            previous_id=raw.as_text(raw.at(body, "thread", "previous_message_id")) or None,
        )

    def read_conversation(self, request: Request) -> tuple[Said, ...]:
        body = raw.of_body(request.body)
        messages = [raw.as_object(message) for message in raw.as_list(body.get("messages"))]
        said = (
            (
                raw.as_text(m.get("role")),
                m.get("content"),
                [_call(b) for b in raw.objects(m.get("content")) if b.get("type") in _CALLS],
            )
            for m in messages
        )
        system = [Said("system", text)] if (text := "\n".join(_texts(body.get("system")))) else []
        return (*system, *told.conversation(said, _results(messages)))

    def read_reply(self, body: JsonValue) -> ModelReply:
        reply = raw.as_object(body)
        blocks = raw.objects(reply.get("content"))
        usage = reply.get("usage")
        stop = raw.as_text(reply.get("stop_reason")) or None
        text = "".join(raw.as_text(block.get("text")) for block in blocks if block.get("type") == "text") or None
        return ModelReply(
            text=text,
            calls=tuple(_call(block) for block in blocks if block.get("type") in _CALLS),
            usage=Usage(raw.as_int(raw.at(usage, "input_tokens")), raw.as_int(raw.at(usage, "output_tokens"))),
            model=raw.as_text(reply.get("model")),
            id=raw.as_text(reply.get("id")),
            stop=stop,
            refusal=_refusal(reply) if stop == "refusal" else None,
        )

    def assemble(self, events: Sequence[StreamEvent]) -> JsonValue:
        return stream.assemble(events)

    def synthesise(self, body: JsonValue, request: Request) -> Sequence[StreamEvent]:
        return tuple(stream.synthesise(raw.as_object(body)))

    def substitute(self, body: JsonValue, results: Mapping[Path, Mock]) -> JsonValue:
        for path, mock in results.items():
            body = raw.replaced(body, path, told.written(raw.found(body, path), mock))
            flag = (*path[:-1], "is_error")
            if mock.is_error or raw.found(body, flag) is not None:
                body = raw.replaced(body, flag, mock.is_error)
        return body

    def error(self, text: ErrorText) -> WireReply:
        # Claude Code answers a 400 with five other attempts at the request, a 406 with the message.
        shown: Object = {"type": "invalid_request_error", "message": text.message}
        return refusal.reply(406, {"type": "error", "error": shown})

    def failure(self, status: int, message: str) -> JsonValue:
        kind = _FAILURES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}}

    def spoil(self, body: JsonValue) -> JsonValue:
        for index, block in enumerate(raw.as_list(raw.at(body, "content"))):
            if isinstance(given := raw.at(block, "input"), dict):
                body = raw.replaced(body, ("content", index, "input"), failing.broken(given))
        return body


def _texts(content: JsonValue) -> list[str]:
    return [content] if isinstance(content, str) else [raw.as_text(part.get("text")) for part in raw.objects(content)]


def _call(block: Object) -> ToolCall:
    given = block.get("input")
    text = given if isinstance(given, str) else raw.compact(given)
    return ToolCall(raw.as_text(block.get("id")), raw.as_text(block.get("name")), given, text)


def _refusal(reply: Object) -> str:
    return raw.as_text(raw.at(reply, "stop_details", "explanation")) or "refusal"


def _result_blocks(messages: Sequence[Object]) -> Iterator[tuple[Path, Object]]:
    for index, message in enumerate(messages):
        for position, block in enumerate(raw.as_list(message.get("content"))):
            if isinstance(block, dict) and block.get("type") == "tool_result":
                yield ("messages", index, "content", position), block


def _results(messages: Sequence[Object]) -> tuple[ToolResult, ...]:
    blocks = [block for message in messages for block in raw.objects(message.get("content"))]
    names = {raw.as_text(b.get("id")): raw.as_text(b.get("name")) for b in blocks if b.get("type") in _CALLS}
    return tuple(
        ToolResult(
            call_id=(call_id := raw.as_text(block.get("tool_use_id"))),
            name=names.get(call_id, ""),
            content=told.read(block.get("content")),
            is_error=block.get("is_error") is True,
            path=(*path, "content"),
        )
        for path, block in _result_blocks(messages)
    )


def _groups(paths: Sequence[Path]) -> tuple[tuple[Path, ...], ...]:
    """The results within one user message, whatever stands between them."""
    messages = {path[1]: tuple(other for other in paths if other[1] == path[1]) for path in paths}
    return tuple(group for group in messages.values() if len(group) > 1)
