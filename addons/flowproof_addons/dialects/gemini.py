"""Gemini, on Google's own API and on Vertex AI.

https://ai.google.dev/api/generate-content (read 2026-12-02).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from flowproof_addons.dialects import failing, raw, refusal, told
from flowproof_addons.dialects import gemini_stream as stream
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

_TURN = re.compile(r"/(?P<model>[^/:]+):(?P<method>generateContent|streamGenerateContent)$")
_FAILURES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""https://ai.google.dev/gemini-api/docs/troubleshooting (read 2026-12-02)."""
_WRAPPERS = ("result", "output", "error")
"""A function's answer must be an object; SDKs put anything else under one of these."""


class Gemini:
    """`POST .../models/MODEL:generateContent` and `:streamGenerateContent`."""

    name = "gemini"
    framing: Literal["sse", "ndjson"] = "sse"
    base_url_variables: tuple[str, ...] = ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_BASE")
    key_variables: tuple[str, ...] = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

    def claims(self, method: str, path: str) -> bool:
        return method == "POST" and _TURN.search(path) is not None

    def authorize(self, key: str) -> Mapping[str, str]:
        return {"x-goog-api-key": key}

    def wants_stream(self, request: Request) -> bool:
        # Without alt=sse the "stream" is one JSON array: an ordinary reply, whose chunks read_reply folds.
        return request.path.endswith(":streamGenerateContent") and "alt=sse" in request.query.split("&")

    def read_request(self, request: Request) -> ModelRequest:
        body = raw.of_body(request.body)
        contents = [raw.as_object(content) for content in raw.as_list(body.get("contents"))]
        system = body.get("systemInstruction", body.get("system_instruction"))
        turn = _TURN.search(request.path)
        results = _results(contents)
        return ModelRequest(
            model=turn["model"] if turn else "",
            system="\n".join(raw.as_text(part.get("text")) for part in raw.objects(raw.at(system, "parts"))),
            roles=tuple(raw.as_text(content.get("role")) for content in contents),
            tools=tuple(name for tool in raw.objects(body.get("tools")) for name in _tool_names(tool)),
            results=results,
            parallel=_groups([result.path[:4] for result in results]),
        )

    def read_conversation(self, request: Request) -> tuple[Said, ...]:
        body = raw.of_body(request.body)
        contents = [raw.as_object(content) for content in raw.as_list(body.get("contents"))]
        system = body.get("systemInstruction", body.get("system_instruction"))
        instruction = [Said("system", text)] if (text := told.text(raw.at(system, "parts"))) else []
        return (*instruction, *told.conversation(map(_spoken, contents), _results(contents)))

    def read_reply(self, body: JsonValue) -> ModelReply:
        reply = raw.as_object(stream.fold(raw.objects(body)) if isinstance(body, list) else body)
        candidates = raw.objects(reply.get("candidates"))
        parts = [part for candidate in candidates for part in raw.objects(raw.at(candidate, "content", "parts"))]
        first = raw.objects(raw.at(candidates[0], "content", "parts")) if candidates else []
        usage = raw.as_object(reply.get("usageMetadata"))
        return ModelReply(
            text="".join(raw.as_text(part.get("text")) for part in first if not part.get("thought")) or None,
            calls=tuple(_call(raw.as_object(part["functionCall"])) for part in parts if "functionCall" in part),
            usage=Usage(*(raw.as_int(usage.get(f"{kind}TokenCount")) for kind in ("prompt", "candidates", "total"))),
            model=raw.as_text(reply.get("modelVersion")),
            id=raw.as_text(reply.get("responseId")),
            stop=raw.as_text(candidates[0].get("finishReason")) or None if candidates else None,
            refusal=raw.as_text(raw.at(reply, "promptFeedback", "blockReason")) or None,
        )

    def assemble(self, events: Sequence[StreamEvent]) -> JsonValue:
        return stream.assemble(events)

    def synthesise(self, body: JsonValue, request: Request) -> Sequence[StreamEvent]:
        whole = stream.fold(raw.objects(body)) if isinstance(body, list) else body
        return tuple(stream.synthesise(raw.as_object(whole)))

    def substitute(self, body: JsonValue, results: Mapping[Path, Mock]) -> JsonValue:
        for path, mock in results.items():
            body = raw.replaced(body, path, _written(raw.found(body, path), mock))
        return body

    def error(self, text: ErrorText) -> WireReply:
        reason: Object = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": text.code}
        shown: Object = {"code": 400, "message": text.message, "status": "INVALID_ARGUMENT", "details": [reason]}
        return refusal.reply(400, {"error": shown})

    def failure(self, status: int, message: str) -> JsonValue:
        return {"error": {"code": status, "message": message, "status": _FAILURES.get(status, "UNKNOWN")}}

    def spoil(self, body: JsonValue) -> JsonValue:
        for place, candidate in enumerate(raw.as_list(raw.at(body, "candidates"))):
            for index, part in enumerate(raw.as_list(raw.at(candidate, "content", "parts"))):
                if isinstance(given := raw.at(part, "functionCall", "args"), dict):
                    path = ("candidates", place, "content", "parts", index, "functionCall", "args")
                    body = raw.replaced(body, path, failing.broken(given))
        return body


def _tool_names(tool: Object) -> list[str]:
    """The functions declared, or the name of a hosted tool, which is its key."""
    declared = tool.get("functionDeclarations", tool.get("function_declarations"))
    return list(tool) if declared is None else [raw.as_text(function.get("name")) for function in raw.objects(declared)]


def _call(call: Object) -> ToolCall:
    given = call.get("args", {})
    return ToolCall(raw.as_text(call.get("id")), raw.as_text(call.get("name")), given, raw.compact(given))


def _spoken(content: Object) -> told.Spoken:
    parts = raw.objects(content.get("parts"))
    words: list[JsonValue] = [part for part in parts if not {"functionCall", "functionResponse"} & part.keys()]
    calls = [_call(raw.as_object(part["functionCall"])) for part in parts if "functionCall" in part]
    return raw.as_text(content.get("role")), words, calls


def _results(contents: Sequence[Object]) -> tuple[ToolResult, ...]:
    found: list[ToolResult] = []
    for index, content in enumerate(contents):
        for position, part in enumerate(raw.as_list(content.get("parts"))):
            answer = raw.at(part, "functionResponse")
            if isinstance(answer, dict):
                path: Path = ("contents", index, "parts", position, "functionResponse", "response")
                response = answer.get("response")
                failed = _wrapper(response) == "error"
                name = raw.as_text(answer.get("name"))
                found.append(ToolResult(raw.as_text(answer.get("id")), name, _unwrapped(response), failed, path))
    return tuple(found)


def _groups(paths: Sequence[Path]) -> tuple[tuple[Path, ...], ...]:
    """The results within one content, whatever stands between them."""
    contents = {path[1]: tuple(other for other in paths if other[1] == path[1]) for path in paths}
    return tuple(group for group in contents.values() if len(group) > 1)


def _wrapper(response: JsonValue) -> str | None:
    """The key under which an SDK put the answer, if it did."""
    keys = list(raw.as_object(response))
    return keys[0] if len(keys) == 1 and keys[0] in _WRAPPERS else None


def _unwrapped(response: JsonValue) -> JsonValue:
    wrapper = _wrapper(response)
    return response if wrapper is None else raw.at(response, wrapper)


def _written(current: JsonValue, mock: Mock) -> JsonValue:
    """The mock as the object the API wants, wrapped as the agent wraps its own answers."""
    if mock.is_error:
        return {"error": mock.content}
    wrapper = _wrapper(current)
    if isinstance(mock.content, dict) and wrapper in (None, "error"):
        return mock.content
    return {"result" if wrapper in (None, "error") else wrapper: mock.content}
