"""The stand-in's answers to what SDKs ask besides turns: models there are, tokens counted, texts embedded."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping

from flowproof_addons.dialects import raw
from flowproof_addons.trace.model import JsonValue, Request

MODEL = "flowproof-doctor"

_VECTOR = (0.5, 0.5, 0.5, 0.5)


def answer(request: Request) -> JsonValue:
    """The JSON of the answer; None: there is nothing at this path."""
    last = request.path.rstrip("/").rpartition("/")[2]
    made = _ANSWERS.get(last.rpartition(":")[2])
    return None if made is None else made(raw.of_body(request.body))


def _always(value: JsonValue) -> Callable[[Mapping[str, JsonValue]], JsonValue]:
    return lambda asked: value


def _embeddings(asked: Mapping[str, JsonValue]) -> JsonValue:
    """OpenAI's, in the form the client asks for: one vector for each text."""
    packed = base64.b64encode(struct.pack("<4f", *_VECTOR)).decode()
    vector: JsonValue = packed if asked.get("encoding_format") == "base64" else list(_VECTOR)
    given = asked.get("input")
    count = len(given) if isinstance(given, list) and not all(isinstance(each, int) for each in given) else 1
    return {
        "object": "list",
        "data": [{"object": "embedding", "index": index, "embedding": vector} for index in range(count)],
        "model": asked.get("model") or MODEL,
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }


def _embed(asked: Mapping[str, JsonValue]) -> JsonValue:
    """Ollama's."""
    given = asked.get("input")
    count = len(given) if isinstance(given, list) else 1
    return {"model": asked.get("model") or MODEL, "embeddings": [list(_VECTOR) for _ in range(count)]}


_OPENAI_MODEL: JsonValue = {"id": MODEL, "object": "model", "created": 1_767_225_600, "owned_by": "flowproof"}
_OLLAMA_MODEL: JsonValue = {"name": MODEL, "model": MODEL, "size": 1, "details": {"family": "flowproof"}}
_ANSWERS: Mapping[str, Callable[[Mapping[str, JsonValue]], JsonValue]] = {
    "models": _always({"object": "list", "data": [_OPENAI_MODEL]}),
    "count_tokens": _always({"input_tokens": 1}),
    "input_tokens": _always({"object": "response.input_tokens", "input_tokens": 1}),
    "countTokens": _always({"totalTokens": 1}),
    "embeddings": _embeddings,
    "embedContent": _always({"embedding": {"values": list(_VECTOR)}}),
    "embed": _embed,
    "tags": _always({"models": [_OLLAMA_MODEL]}),
    "show": _always({"details": {"family": "flowproof"}, "model_info": {}, "capabilities": ["completion", "tools"]}),
    "version": _always({"version": "0.0.0"}),
}
"""By the last word of the path: `/v1/models`, `/v1beta/models/m:countTokens`."""
