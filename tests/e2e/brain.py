"""A model that always answers the same request the same way, in three APIs, streamed or not.

It asks for the weather (and, when the prompt says `both`, for the time too, in parallel), then tells what it was
told. Ids, `created`, usage, fingerprints and fields no SDK knows are all there: a replay has to bring them back.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.e2e.upstream import Answer, Seen, named, reply, sse, stream

CREATED = 1_780_000_000


@dataclass(frozen=True, slots=True)
class Call:
    """A tool the model asks for."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Thought:
    """What the model answers, in no API's words yet."""

    key: str
    model: str
    text: str
    calls: tuple[Call, ...]
    tokens_in: int
    tokens_out: int


def answer(seen: Seen) -> Answer:
    """The reply to one request of any of the three APIs; 404 for what is none."""
    path = seen.path
    if path.endswith("/chat/completions"):
        return _chat(seen)
    if path.endswith("/responses"):
        return _responses(seen)
    if path.endswith("/messages"):
        return _messages(seen)
    if path.endswith("/audio/transcriptions"):
        return reply({"text": "rain on a roof", "usage": {"type": "duration", "seconds": 3}})
    if path.endswith("/embeddings"):
        return reply(_embedded(seen))
    if path.endswith("/messages/count_tokens"):
        return reply({"input_tokens": len(seen.body)})
    if path.endswith("/models"):
        return reply({"object": "list", "data": [{"id": "brain-1", "object": "model", "created": CREATED}]})
    return reply({"error": {"message": f"nothing at {path}", "type": "not_found"}}, 404)


def _think(seen: Seen, told: Sequence[str], prompt: str) -> Thought:
    body = seen.json
    key = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:12]
    wanted = ["get_weather", *(["get_time"] if "both" in prompt else [])]
    offered = {_name(tool) for tool in body.get("tools", [])}
    names = [name for name in wanted if name in offered] if not told else []
    calls = tuple(Call(f"call_{key}_{i}", name, '{"city": "Nairobi"}') for i, name in enumerate(names))
    text = "" if calls else f"Told: {'; '.join(told) or 'nothing'} \N{CLOUD WITH RAIN}"
    return Thought(key, str(body.get("model")), text, calls, len(seen.body), 7 * len(calls) + len(text))


def _embedded(seen: Seen) -> dict[str, Any]:
    """One vector for each text, as the SDKs ask for it: four floats in base64."""
    given = seen.json["input"]
    texts = given if isinstance(given, list) else [given]
    vectors = [[len(text) / 10, text.count("a") / 10, 0.5, -0.25] for text in texts]
    data = [
        {"object": "embedding", "index": i, "embedding": base64.b64encode(struct.pack("<4f", *vector)).decode()}
        for i, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": len(seen.body), "total_tokens": len(seen.body)}
    return {"object": "list", "model": seen.json["model"], "data": data, "usage": usage}


def _name(tool: dict[str, Any]) -> str:
    return str(tool.get("name") or tool.get("function", {}).get("name"))


def _text(content: object) -> str:
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content)
    return str(content)


def _halves(text: str) -> Iterator[str]:
    yield from (text[: len(text) // 2], text[len(text) // 2 :])


# -- chat completions ---------------------------------------------------------------------------------------------


def _chat(seen: Seen) -> Answer:
    messages = seen.json["messages"]
    told = [_text(m["content"]) for m in messages if m["role"] == "tool"]
    prompt = " ".join(_text(m["content"]) for m in messages if m["role"] == "user")
    thought = _think(seen, told, prompt)
    if seen.json.get("stream"):
        return stream(sse(*_chat_chunks(thought, bool((seen.json.get("stream_options") or {}).get("include_usage")))))
    message: dict[str, object] = {"role": "assistant", "content": thought.text or None, "refusal": None}
    if thought.calls:
        message["tool_calls"] = [_chat_call(call) for call in thought.calls]
    return reply({
        **_chat_head(thought, "chat.completion"),
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(thought)}],
        "usage": _chat_usage(thought),
        "x_vendor": {"shard": 7},
    })  # fmt: skip


def _chat_head(thought: Thought, kind: str) -> dict[str, object]:
    return {
        "id": f"chatcmpl-{thought.key}",
        "object": kind,
        "created": CREATED,
        "model": thought.model,
        "system_fingerprint": "fp_brain",
    }


def _chat_usage(thought: Thought) -> dict[str, object]:
    total = thought.tokens_in + thought.tokens_out
    return {"prompt_tokens": thought.tokens_in, "completion_tokens": thought.tokens_out, "total_tokens": total}


def _chat_call(call: Call) -> dict[str, object]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _finish(thought: Thought) -> str:
    return "tool_calls" if thought.calls else "stop"


def _chat_chunks(thought: Thought, usage: bool) -> Iterator[dict[str, object]]:
    """Arguments of parallel calls come interleaved, a piece of each in turn."""

    def chunk(delta: object, finish: str | None = None) -> dict[str, object]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**_chat_head(thought, "chat.completion.chunk"), "choices": [choice], "obfuscation": "x" * 3}

    yield chunk({"role": "assistant", "content": None if thought.calls else "", "refusal": None})
    for i, call in enumerate(thought.calls):
        first = {"index": i, **_chat_call(Call(call.id, call.name, ""))}
        yield chunk({"tool_calls": [first]})
    for pieces in zip(*(_halves(call.arguments) for call in thought.calls), strict=True):
        for i, piece in enumerate(pieces):
            yield chunk({"tool_calls": [{"index": i, "function": {"arguments": piece}}]})
    for piece in _halves(thought.text) if thought.text else ():
        yield chunk({"content": piece})
    yield chunk({}, _finish(thought))
    if usage:
        yield {**_chat_head(thought, "chat.completion.chunk"), "choices": [], "usage": _chat_usage(thought)}


# -- messages -----------------------------------------------------------------------------------------------------


def _messages(seen: Seen) -> Answer:
    blocks = [b for m in seen.json["messages"] if isinstance(m["content"], list) for b in m["content"]]
    told = [_text(b.get("content", "")) for b in blocks if b["type"] == "tool_result"]
    prompt = " ".join(_text(m["content"]) for m in seen.json["messages"] if m["role"] == "user")
    thought = _think(seen, told, prompt)
    message: dict[str, Any] = {
        "id": f"msg_{thought.key}",
        "type": "message",
        "role": "assistant",
        "model": thought.model,
        "content": _blocks(thought),
        "stop_reason": "tool_use" if thought.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": thought.tokens_in,
            "output_tokens": thought.tokens_out,
            "cache_read_input_tokens": 0,
            "service_tier": "standard",
        },
    }
    return stream(named(*_message_events(message))) if seen.json.get("stream") else reply(message)


def _blocks(thought: Thought) -> list[dict[str, Any]]:
    if not thought.calls:
        return [{"type": "text", "text": thought.text, "citations": None}]
    thinking = {"type": "thinking", "thinking": "I had better look.", "signature": f"sig-{thought.key}"}
    calls = [{"type": "tool_use", "id": c.id, "name": c.name, "input": json.loads(c.arguments)} for c in thought.calls]
    return [thinking, *calls]


def _message_events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    first = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": first}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
        "usage": {"output_tokens": message["usage"]["output_tokens"]},
    }
    yield {"type": "message_stop"}


def _block_events(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    def delta(**what: object) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": index, "delta": what}

    empty: dict[str, object] = {"thinking": "", "signature": "", "text": "", "input": {}}
    start = {key: empty.get(key, value) for key, value in block.items()}
    yield {"type": "content_block_start", "index": index, "content_block": start}
    match block["type"]:
        case "thinking":
            for piece in _halves(block["thinking"]):
                yield delta(type="thinking_delta", thinking=piece)
            yield delta(type="signature_delta", signature=block["signature"])
        case "text":
            for piece in _halves(block["text"]):
                yield delta(type="text_delta", text=piece)
        case _:
            for piece in _halves(json.dumps(block["input"])):
                yield delta(type="input_json_delta", partial_json=piece)
    yield {"type": "content_block_stop", "index": index}


# -- responses ----------------------------------------------------------------------------------------------------


def _responses(seen: Seen) -> Answer:
    given = seen.json["input"]
    items = given if isinstance(given, list) else [{"role": "user", "content": given}]
    told = [_text(i["output"]) for i in items if i.get("type") == "function_call_output"]
    prompt = " ".join(_text(i["content"]) for i in items if i.get("role") == "user")
    thought = _think(seen, told, prompt)
    response: dict[str, Any] = {
        "id": f"resp_{thought.key}",
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": seen.json.get("instructions"),
        "model": thought.model,
        "output": _items(thought),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": seen.json.get("tools", []),
        "usage": {
            "input_tokens": thought.tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": thought.tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": thought.tokens_in + thought.tokens_out,
        },
        "x_vendor": {"shard": 7},
    }
    return stream(named(*_response_events(response))) if seen.json.get("stream") else reply(response)


def _items(thought: Thought) -> list[dict[str, Any]]:
    if thought.calls:
        return [
            {
                "type": "function_call",
                "id": f"fc_{call.id}",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "status": "completed",
            }
            for call in thought.calls
        ]
    part = {"type": "output_text", "text": thought.text, "annotations": [], "logprobs": []}
    return [
        {"type": "message", "id": f"msg_{thought.key}", "role": "assistant", "status": "completed", "content": [part]}
    ]


def _response_events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    bare = {**response, "status": "in_progress", "output": [], "usage": None}
    bodies = [{"type": "response.created", "response": bare}, {"type": "response.in_progress", "response": bare}]
    for index, item in enumerate(response["output"]):
        bodies.extend(_item_events(index, item))
    bodies.append({"type": "response.completed", "response": response})
    for number, body in enumerate(bodies):
        yield {**body, "sequence_number": number}


def _item_events(index: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    at = {"output_index": index, "item_id": item["id"]}
    started = {**item, "status": "in_progress"}
    if item["type"] == "function_call":
        yield {"type": "response.output_item.added", "output_index": index, "item": {**started, "arguments": ""}}
        for piece in _halves(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        yield {"type": "response.function_call_arguments.done", **at, "arguments": item["arguments"]}
    else:
        part = item["content"][0]
        place = {**at, "content_index": 0}
        yield {"type": "response.output_item.added", "output_index": index, "item": {**started, "content": []}}
        yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
        for piece in _halves(part["text"]):
            yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **place, "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}
