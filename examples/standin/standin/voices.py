"""One answer in the words of each API, ids made from the request so that they never change."""

from __future__ import annotations

import base64
import hashlib
import struct
from dataclasses import dataclass

from flowproof_addons.dialects import raw
from flowproof_addons.trace.model import JsonValue
from standin.script import Rule

type Object = dict[str, JsonValue]

CREATED = 1_764_633_600
"""Every answer was made at this second: 2025-12-02."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer about to be given, in no API's words yet."""

    rule: Rule
    model: str
    digest: str
    """Hex, of the request: every id is made from it."""
    size: int
    """Characters of the request, for the token counts."""

    @property
    def tokens(self) -> tuple[int, int]:
        """Input and output tokens: four characters each, as a rule of thumb has it."""
        said = (
            self.rule.say
            + self.rule.think
            + self.rule.refuse
            + "".join(call.tool + call.text for call in self.rule.call)
        )
        return 1 + self.size // 4, 1 + len(said) // 4

    def call_id(self, prefix: str, index: int) -> str:
        """The id of one of its calls."""
        return f"{prefix}{self.digest[:20]}{index:02}"


def chat(turn: Turn) -> JsonValue:
    """The answer as a Chat completion."""
    rule, (spent, made) = turn.rule, turn.tokens
    message: Object = {
        "role": "assistant",
        "content": rule.say or None,
        "refusal": rule.refuse or None,
        "annotations": [],
    }
    if rule.think:
        message["reasoning_content"] = rule.think
    if rule.call:
        message["tool_calls"] = [
            {
                "id": turn.call_id("call_", index),
                "type": "function",
                "function": {"name": call.tool, "arguments": call.text},
            }
            for index, call in enumerate(rule.call)
        ]
    finish = "tool_calls" if rule.call else "stop"
    return {
        "id": f"chatcmpl-{turn.digest[:24]}",
        "object": "chat.completion",
        "created": CREATED,
        "model": turn.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {"prompt_tokens": spent, "completion_tokens": made, "total_tokens": spent + made},
        "service_tier": "default",
        "system_fingerprint": "fp_standin",
    }


_FUNCTION = ("function_call", "fc_", "arguments")
_FREEFORM = ("custom_tool_call", "ctc_", "input")


def responses(turn: Turn) -> JsonValue:
    """The answer as a Response."""
    rule, (spent, made) = turn.rule, turn.tokens
    output: list[JsonValue] = []
    if rule.think:
        thought: Object = {"type": "summary_text", "text": rule.think}
        output.append({"id": f"rs_{turn.digest[:24]}", "type": "reasoning", "summary": [thought]})
    if rule.say or rule.refuse:
        said: Object = {"type": "output_text", "text": rule.say, "annotations": [], "logprobs": []}
        part: Object = {"type": "refusal", "refusal": rule.refuse} if rule.refuse else said
        message: Object = {
            "id": f"msg_{turn.digest[:24]}",
            "type": "message",
            "status": "completed",
            "role": "assistant",
        }
        output.append({**message, "content": [part]})
    for index, call in enumerate(rule.call):
        kind, prefix, carried = _FREEFORM if call.freeform else _FUNCTION
        ids: Object = {"id": turn.call_id(prefix, index), "call_id": turn.call_id("call_", index)}
        output.append({"type": kind, "status": "completed", "name": call.tool, carried: call.text, **ids})
    return {
        "id": f"resp_{turn.digest[:24]}",
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": turn.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": spent,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": spent + made,
        },
    }


def messages(turn: Turn) -> JsonValue:
    """The answer as an Anthropic message."""
    rule, (spent, made) = turn.rule, turn.tokens
    content: list[JsonValue] = []
    if rule.think:
        content.append({"type": "thinking", "thinking": rule.think, "signature": f"sig-{turn.digest}"})
    if rule.say or rule.refuse:
        content.append({"type": "text", "text": rule.say or rule.refuse})
    for index, call in enumerate(rule.call):
        content.append(
            {
                "type": "tool_use",
                "id": turn.call_id("toolu_", index),
                "name": call.tool,
                "input": raw.arguments(call.text),
            }
        )
    return {
        "id": f"msg_{turn.digest[:24]}",
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": content,
        "stop_reason": "refusal" if rule.refuse else "tool_use" if rule.call else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": spent,
            "cache_read_input_tokens": 0,
            "output_tokens": made,
            "service_tier": "standard",
        },
    }


def gemini(turn: Turn) -> JsonValue:
    """The answer as Gemini generates it."""
    rule, (spent, made) = turn.rule, turn.tokens
    parts: list[JsonValue] = [{"text": rule.think, "thought": True}] if rule.think else []
    if rule.say or rule.refuse:
        parts.append({"text": rule.say or rule.refuse})
    for index, call in enumerate(rule.call):
        asked: Object = {"id": turn.call_id("call_", index), "name": call.tool, "args": raw.arguments(call.text)}
        parts.append({"functionCall": asked})
    candidate: Object = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    usage: Object = {"promptTokenCount": spent, "candidatesTokenCount": made, "totalTokenCount": spent + made}
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": turn.model,
        "responseId": turn.digest[:24],
    }


def embeddings(asked: Object) -> JsonValue:
    """Eight numbers for each text, always the same ones for the same text."""
    given = asked.get("input")
    texts = given if isinstance(given, list) else [given]
    data: list[JsonValue] = []
    for index, text in enumerate(texts):
        vector = [byte / 256 for byte in hashlib.sha256(raw.compact(text).encode()).digest()[:8]]
        packed = base64.b64encode(struct.pack("<8f", *vector)).decode()
        shown: JsonValue = packed if asked.get("encoding_format") == "base64" else list[JsonValue](vector)
        data.append({"object": "embedding", "index": index, "embedding": shown})
    usage: Object = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": data, "model": asked.get("model"), "usage": usage}


def error(kind: str, message: str) -> JsonValue:
    """An error that the SDKs of all three APIs can read."""
    return {"type": "error", "error": {"type": kind, "message": message, "param": None, "code": kind}}


BY_DIALECT = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic-messages": messages,
    "gemini": gemini,
}
"""How each API would put it."""
