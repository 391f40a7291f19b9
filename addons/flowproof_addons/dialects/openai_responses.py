"""OpenAI Responses.

https://platform.openai.com/docs/api-reference/responses (read 2026-12-02).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from flowproof_addons.dialects import failing, raw, refusal, told
from flowproof_addons.dialects import openai_responses_stream as stream
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

_CALLED_WITH = ("arguments", "input", "action", "actions", "operation", "queries", "code")
"""Where the kinds of call item keep what they were called with."""


class OpenAIResponses:
    """`POST .../responses`; retrieving, cancelling and compacting one are side calls."""

    name = "openai-responses"
    framing: Literal["sse", "ndjson"] = "sse"
    base_url_variables: tuple[str, ...] = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
    key_variables: tuple[str, ...] = ("OPENAI_API_KEY",)
    websocket = True

    def claims(self, method: str, path: str) -> bool:
        return method == "POST" and path.rstrip("/").endswith("/responses")

    def authorize(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def wants_stream(self, request: Request) -> bool:
        return raw.of_body(request.body).get("stream") is True

    def read_request(self, request: Request) -> ModelRequest:
        body = raw.of_body(request.body)
        given = body.get("input")
        items = [raw.as_object(item) for item in raw.as_list(given)]
        said = [
            body.get("instructions"),
            *(i.get("content") for i in items if i.get("role") in ("system", "developer")),
        ]
        outputs = [("input", index) for index, item in enumerate(items) if _is_output(item)]
        return ModelRequest(
            model=raw.as_text(body.get("model")),
            system="\n".join(text for content in said if (text := raw.text_of(content))),
            roles=("user",) if isinstance(given, str) else tuple(_kind(item) for item in items),
            tools=tuple(name for tool in _offered(body, items) for name in _tool_names(tool)),
            results=_results(items),
            parallel=told.groups(outputs),
            previous_id=raw.as_text(body.get("previous_response_id")) or None,
        )

    def read_conversation(self, request: Request) -> tuple[Said, ...]:
        body = raw.of_body(request.body)
        given = body.get("input")
        items = [raw.as_object(item) for item in raw.as_list(given)]
        said = ((_kind(i), i.get("content", i.get("summary")), [_call(i)] if _is_call(i) else []) for i in items)
        system = [Said("system", text)] if (text := told.text(body.get("instructions"))) else []
        told_whole = [Said("user", given)] if isinstance(given, str) else []
        return (*system, *told_whole, *told.conversation(said, _results(items)))

    def read_reply(self, body: JsonValue) -> ModelReply:
        reply = raw.as_object(body)
        items = raw.objects(reply.get("output"))
        parts = [part for item in items if item.get("type") == "message" for part in raw.objects(item.get("content"))]
        usage = raw.as_object(reply.get("usage"))
        return ModelReply(
            text="".join(raw.as_text(part.get("text")) for part in parts) or None,
            calls=tuple(_call(item) for item in items if _is_call(item)),
            usage=Usage(*(raw.as_int(usage.get(f"{kind}_tokens")) for kind in ("input", "output", "total"))),
            model=raw.as_text(reply.get("model")),
            id=raw.as_text(reply.get("id")),
            stop=raw.as_text(raw.at(reply, "incomplete_details", "reason")) or raw.as_text(reply.get("status")) or None,
            refusal="".join(raw.as_text(part.get("refusal")) for part in parts) or None,
        )

    def assemble(self, events: Sequence[StreamEvent]) -> JsonValue:
        return stream.assemble(events)

    def synthesise(self, body: JsonValue, request: Request) -> Sequence[StreamEvent]:
        return tuple(stream.synthesise(raw.as_object(body)))

    def substitute(self, body: JsonValue, results: Mapping[Path, Mock]) -> JsonValue:
        for path, mock in results.items():
            item = raw.as_object(raw.found(body, path[:-1]))
            body = raw.replaced(body, path, _written(item, mock))
            if item.get("type") == "apply_patch_call_output":
                body = raw.replaced(body, (*path[:-1], "status"), "failed" if mock.is_error else "completed")
        return body

    def error(self, text: ErrorText) -> WireReply:
        shown: Object = {"message": text.message, "type": "invalid_request_error", "param": None, "code": text.code}
        return refusal.reply(400, {"error": shown})

    def failure(self, status: int, message: str) -> JsonValue:
        return failing.openai(status, message)

    def spoil(self, body: JsonValue) -> JsonValue:
        for index, item in enumerate(raw.as_list(raw.at(body, "output"))):
            if isinstance(text := raw.at(item, "arguments"), str):
                body = raw.replaced(body, ("output", index, "arguments"), failing.broken(text))
        return body


def _kind(item: Object) -> str:
    return raw.as_text(item.get("role")) or raw.as_text(item.get("type"))


def _offered(body: Object, items: Iterable[Object]) -> Iterator[Object]:
    """Tools come with the request, or (Codex 0.171, seen 2026-12-02) in an item of the input."""
    for source in (body, *(item for item in items if item.get("type") == "additional_tools")):
        yield from raw.objects(source.get("tools"))


def _tool_names(tool: Object) -> list[str]:
    """Functions have names, hosted tools only a type; a namespace stands for the functions in it."""
    inner = raw.objects(tool.get("tools")) if tool.get("type") == "namespace" else []
    return [raw.as_text(t.get("name")) or raw.as_text(t.get("type")) for t in inner or [tool]]


def _call(item: Object) -> ToolCall:
    """Any `*_call` item, hosted tools included: whoever carries it out, the model asked for it."""
    given = next((item[key] for key in _CALLED_WITH if key in item), {})
    text = given if isinstance(given, str) else raw.compact(given)
    call_id = raw.as_text(item.get("call_id")) or raw.as_text(item.get("id"))
    return ToolCall(call_id, _call_name(item), raw.arguments(given) if isinstance(given, str) else given, text)


def _call_name(item: Object) -> str:
    return raw.as_text(item.get("name")) or raw.as_text(item.get("type")).removesuffix("_output").removesuffix("_call")


def _is_call(item: Object) -> bool:
    return raw.as_text(item.get("type")).endswith("_call")


def _is_output(item: Object) -> bool:
    return raw.as_text(item.get("type")).endswith("_output") and "output" in item


def _results(items: Sequence[Object]) -> tuple[ToolResult, ...]:
    names = {call.id: call.name for item in items if _is_call(item) for call in [_call(item)]}
    return tuple(
        ToolResult(
            call_id=(call_id := raw.as_text(item.get("call_id")) or raw.as_text(item.get("id"))),
            name=names.get(call_id, "") or _builtin_name(item),
            content=told.read(item.get("output")),
            is_error=item.get("status") == "failed",
            path=("input", index, "output"),
        )
        for index, item in enumerate(items)
        if _is_output(item)
    )


def _builtin_name(item: Object) -> str:
    """Outputs of built-in tools tell the tool by their type; a function's output does not."""
    name = _call_name(item)
    return "" if name in ("function", "custom_tool") else name


def _written(item: Object, mock: Mock) -> JsonValue:
    """The mock in the item's own shape: a shell's is its streams and exit code, a screenshot's is an object."""
    current = item.get("output")
    if item.get("type") == "shell_call_output":
        ended: Object = {"type": "exit", "exit_code": int(mock.is_error)}
        return [{"stdout": told.written("", mock), "stderr": "", "outcome": ended}]
    return mock.content if isinstance(current, dict) else told.written(current, mock)
