"""A usable answer to any model request: the same few words in every API, as one JSON document or as a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flowproof_addons.dialects import framing
from flowproof_addons.dialects.base import Dialect, ErrorText, Registry, WireReply
from flowproof_addons.trace.json_value import compact
from flowproof_addons.trace.model import JsonValue, Request
from flowproof_runner.doctor import side_calls

TEXT = "OK from flowproof doctor."
"""What the stand-in model says."""

_CREATED = 1_767_225_600


def answer(request: Request, registry: Registry) -> WireReply:
    """The stand-in's reply to a turn, or to one of the side calls SDKs make; 404 for anything else."""
    dialect = registry.find(request.method, request.path)
    if dialect is None:
        return _side_call(request)
    if dialect.name not in _BODIES:
        return dialect.error(ErrorText(f"flowproof doctor has no canned reply in the dialect {dialect.name}"))
    return _turn(dialect, request)


def _turn(dialect: Dialect, request: Request) -> WireReply:
    body = _BODIES[dialect.name](dialect.read_request(request).model or side_calls.MODEL)
    if not dialect.wants_stream(request):
        return _json(200, body)
    framed = framing.of(dialect.framing)
    frames = framed.frames(dialect.synthesise(body, request))
    return WireReply(200, {"content-type": framed.content_type}, b"".join(frames))


def _side_call(request: Request) -> WireReply:
    found = side_calls.answer(request)
    if found is not None:
        return _json(200, found)
    return _json(404, {"error": {"message": f"flowproof doctor has nothing at {request.path}", "type": "not_found"}})


def _json(status: int, body: JsonValue) -> WireReply:
    return WireReply(status, {"content-type": "application/json"}, compact(body).encode())


def _chat(model: str) -> JsonValue:
    message: JsonValue = {"role": "assistant", "content": TEXT, "refusal": None}
    return {
        "id": "chatcmpl-doctor",
        "object": "chat.completion",
        "created": _CREATED,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _responses(model: str) -> JsonValue:
    part: JsonValue = {"type": "output_text", "text": TEXT, "annotations": [], "logprobs": []}
    item: JsonValue = {
        "id": "msg_doctor",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }
    return {
        "id": "resp_doctor",
        "object": "response",
        "created_at": _CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": [item],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    }


def _messages(model: str) -> JsonValue:
    return {
        "id": "msg_doctor",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": TEXT}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _gemini(model: str) -> JsonValue:
    candidate: JsonValue = {
        "content": {"role": "model", "parts": [{"text": TEXT}]},
        "finishReason": "STOP",
        "index": 0,
    }
    usage: JsonValue = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": "doctor"}


def _ollama(model: str) -> JsonValue:
    return {
        "model": model,
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": TEXT},
        "done": True,
        "done_reason": "stop",
        "total_duration": 1,
        "load_duration": 1,
        "prompt_eval_count": 1,
        "prompt_eval_duration": 1,
        "eval_count": 1,
        "eval_duration": 1,
    }


_BODIES: Mapping[str, Callable[[str], JsonValue]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _messages,
    "gemini": _gemini,
    "ollama-chat": _ollama,
}
