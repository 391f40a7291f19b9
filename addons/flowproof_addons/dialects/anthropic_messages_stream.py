"""Streams of Anthropic Messages: folded into the message, and made from one.

https://docs.anthropic.com/en/api/messages-streaming (read 2026-12-02), and the accumulator of anthropic-python 2.15.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flowproof_addons.dialects import delta, raw
from flowproof_addons.dialects.base import StreamEvent
from flowproof_addons.trace.model import JsonValue

type Object = dict[str, JsonValue]

_ENDING = ("stop_reason", "stop_sequence", "stop_details", "container")
"""Message fields that `message_delta.delta` carries."""
_LATE = ("context_management", "input_transformations")
"""Message fields that stand beside `message_delta.delta`."""
_CUMULATIVE = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "server_tool_use",
)
"""Counts that `message_delta.usage` repeats with their final values."""
_STREAMED_INPUT = ("tool_use", "server_tool_use")
"""Blocks whose input every SDK takes piece by piece; other blocks are sent whole."""


def assemble(events: Sequence[StreamEvent]) -> JsonValue:
    """The message these events add up to; None where there is no `message_start`."""
    message: Object | None = None
    blocks: dict[int, _Block] = {}
    for event in map(_payload, events):
        match event.get("type"):
            case "message_start":
                message = dict(raw.as_object(event.get("message")))
            case "content_block_start":
                blocks[_index(event)] = _Block(raw.as_object(event.get("content_block")))
            case "content_block_delta" if _index(event) in blocks:
                blocks[_index(event)].add(raw.as_object(event.get("delta")))
            case "message_delta" if message is not None:
                _conclude(message, event)
            case _:
                pass  # pings, stops, errors and events nobody knows: no part of the message
    if message is None:
        return None
    return {**message, "content": [blocks[index].value() for index in sorted(blocks)]}


def synthesise(message: Mapping[str, JsonValue]) -> Iterator[StreamEvent]:
    """The events Anthropic would have streamed."""
    yield _event("message_start", message=_opening(message))
    for index, block in enumerate(raw.objects(message.get("content"))):
        start, deltas = _block_parts(block)
        yield _event("content_block_start", index=index, content_block=start)
        for fragment in deltas:
            yield _event("content_block_delta", index=index, delta=fragment)
        yield _event("content_block_stop", index=index)
    yield _event("message_delta", **_ending(message))
    yield _event("message_stop")


class _Block:
    """One content block being put together."""

    def __init__(self, start: Object) -> None:
        self._block: Object = {}
        self._input: str | None = None
        delta.merge(self._block, start)

    def add(self, fragment: Object) -> None:
        match fragment.get("type"):
            case "input_json_delta":
                self._input = (self._input or "") + raw.as_text(fragment.get("partial_json"))
            case "citations_delta":
                citations = raw.as_list(self._block.get("citations"))
                self._block["citations"] = [*citations, fragment.get("citation")]
            case _:
                delta.merge(self._block, {k: v for k, v in fragment.items() if k != "type"})

    def value(self) -> JsonValue:
        """The block; an input that was cut in the middle stays the text it is."""
        return {**self._block, "input": raw.arguments(self._input)} if self._input else self._block


def _conclude(message: Object, event: Object) -> None:
    """Take over what `message_delta` says: it is final, but a count it leaves out (or null) stays as it was."""
    message.update(raw.as_object(event.get("delta")))
    message.update({k: v for k, v in event.items() if k not in ("type", "delta", "usage")})
    if "usage" in event:
        usage = dict(raw.as_object(message.get("usage")))
        for key, value in raw.as_object(event["usage"]).items():
            usage[key] = usage.get(key) if value is None else value
        message["usage"] = usage


def _opening(message: Mapping[str, JsonValue]) -> Object:
    """The message before its first word."""
    opening: Object = {k: None if k in _ENDING else v for k, v in message.items() if k not in _LATE}
    opening["content"] = []
    if raw.as_int(raw.at(message.get("usage"), "output_tokens")) is not None:
        opening["usage"] = {**raw.as_object(message.get("usage")), "output_tokens": 0}
    return opening


def _ending(message: Mapping[str, JsonValue]) -> Object:
    """What is known only after the last word."""
    ending: Object = {"delta": {key: message[key] for key in _ENDING if key in message}}
    ending |= {key: message[key] for key in _LATE if key in message}
    if isinstance(usage := message.get("usage"), dict):
        ending["usage"] = {key: usage[key] for key in _CUMULATIVE if key in usage}
    return ending


def _block_parts(block: Object) -> tuple[Object, list[Object]]:
    """A block as its start and its deltas; a kind that is not streamed is all in the start."""
    match block:
        case {"type": "text", "text": str(text)}:
            cited = raw.as_list(block.get("citations"))
            start: Object = {**block, "text": ""} | ({"citations": []} if cited else {})
            citations: list[Object] = [{"type": "citations_delta", "citation": citation} for citation in cited]
            return start, [*_texts("text", text), *citations]
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)}:
            signed: list[Object] = [{"type": "signature_delta", "signature": signature}] if signature else []
            return {**block, "thinking": "", "signature": ""}, [*_texts("thinking", text), *signed]
        case {"type": str(kind), "input": dict(given)} if kind in _STREAMED_INPUT and given:
            pieces = ["", *delta.pieces(raw.compact(given))]
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        case {"type": str(kind), "input": str(text)} if kind in _STREAMED_INPUT and raw.arguments(text) == text:
            pieces = ["", *delta.pieces(text)]  # not JSON: a stream can say it, a message cannot
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        case _:
            return block, []


def _texts(key: str, text: str) -> list[Object]:
    return [{"type": f"{key}_delta", key: piece} for piece in delta.pieces(text)]


def _payload(event: StreamEvent) -> Object:
    try:
        return raw.as_object(raw.parse(event.data))
    except ValueError:
        return {}  # a frame cut in the middle


def _index(event: Object) -> int:
    index = raw.as_int(event.get("index"))
    return 0 if index is None else index


def _event(kind: str, **fields: JsonValue) -> StreamEvent:
    return StreamEvent(raw.compact({"type": kind, **fields}), kind)
