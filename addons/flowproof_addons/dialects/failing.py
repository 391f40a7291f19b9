"""What the dialects share of how model APIs fail."""

from __future__ import annotations

from flowproof_addons.dialects import raw
from flowproof_addons.trace.model import JsonValue

_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "requests"}
_SERVER_ERRORS = 500


def openai(status: int, message: str) -> JsonValue:
    """An error body of OpenAI's APIs: https://platform.openai.com/docs/guides/error-codes (read 2026-12-02)."""
    kind = "server_error" if status >= _SERVER_ERRORS else _TYPES.get(status, "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": _CODES.get(status)}}


def broken(arguments: JsonValue) -> str:
    """Arguments as a model that was cut off leaves them: the first half of their JSON."""
    text = arguments if isinstance(arguments, str) else raw.compact(arguments)
    return text[: max(1, len(text) // 2)] if text.lstrip().startswith("{") else "{" + text
