"""A declared value as the `CallToolResult` an MCP client expects."""

from __future__ import annotations

import json

from flowproof_addons.mcp.message import Message
from flowproof_addons.trace.model import JsonValue


def tool_result(content: JsonValue, is_error: bool, modern: bool, schema: JsonValue = None) -> Message:
    """A result that says `content`; one that already has the shape is taken as it is.

    `schema`: the tool's output schema, if it has one: clients then refuse a result without structured content.
    """
    result: Message
    if isinstance(content, dict) and isinstance(content.get("content"), list):
        result = dict(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        result = {"content": [{"type": "text", "text": text}]}
        if not is_error and (structured := _structured(content, schema)) is not None:
            result["structuredContent"] = structured
    if is_error:
        result["isError"] = True
    return {"resultType": "complete", **result} if modern else result


def _structured(content: JsonValue, schema: JsonValue) -> JsonValue:
    """SDKs wrap what is no object into one with the member `result`, in schema and answer alike."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    wrapped = isinstance(properties, dict) and list(properties) == ["result"]
    if wrapped and not (isinstance(content, dict) and list(content) == ["result"]):
        return {"result": content}
    return content if isinstance(content, dict) else None
