"""Streams of OpenAI Responses: folded into the response, and made from one.

https://platform.openai.com/docs/api-reference/responses-streaming (read 2026-12-02), and openai-python 3.57.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from flowproof_addons.dialects import delta, raw
from flowproof_addons.dialects.base import StreamEvent
from flowproof_addons.trace.model import JsonValue

type Object = dict[str, JsonValue]
type Fields = tuple[str, Object]
"""An event's type and what it carries, before it has a sequence number."""

_ENDS = {"completed": "response.completed", "incomplete": "response.incomplete", "failed": "response.failed"}
_LIFECYCLE = frozenset({"response.created", "response.queued", "response.in_progress", *_ENDS.values()})
_NOT_YET: Object = {"usage": None, "completed_at": None, "incomplete_details": None, "error": None}
"""What a response in progress cannot know."""


def assemble(events: Sequence[StreamEvent]) -> JsonValue:
    """The response these events lead to: the last one that is stated whole, which the final event does.

    A stream cut before its final event gives that response with the items that were finished; None without one.
    """
    response: Object | None = None
    items: dict[int, JsonValue] = {}
    for event in map(_payload, events):
        kind = event.get("type")
        if kind in _LIFECYCLE and isinstance(event.get("response"), dict):
            response = raw.as_object(event["response"])
        elif kind == "response.output_item.done":
            items[raw.as_int(event.get("output_index")) or 0] = event.get("item")
    if response is None:
        return None
    # Some backends leave `output` out of the final event: the client has had the items.
    return (
        {**response, "output": [items[i] for i in sorted(items)]} if items and not response.get("output") else response
    )


def synthesise(response: Mapping[str, JsonValue]) -> Iterator[StreamEvent]:
    """The events OpenAI would have streamed; a response that has not ended is stated once."""
    numbers = count()
    for kind, fields in _events(dict(response)):
        yield StreamEvent(raw.compact({"type": kind, **fields, "sequence_number": next(numbers)}), kind)


def _events(response: Object) -> Iterator[Fields]:
    end = _ENDS.get(raw.as_text(response.get("status")))
    if end is None:
        yield "response.created", {"response": response}
        return
    unknown = {key: value for key, value in _NOT_YET.items() if key in response}
    begun: Object = {**response, "status": "in_progress", "output": [], **unknown}
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    for index, item in enumerate(raw.objects(response.get("output"))):
        yield from _item(index, item)
    yield end, {"response": response}


def _item(index: int, item: Object) -> Iterator[Fields]:
    at: Object = {"item_id": item.get("id"), "output_index": index}
    opening: Object = item
    inner: Iterator[Fields] = iter(())
    match item.get("type"):
        case "message":
            opening, inner = {**item, "content": []}, _message(at, item)
        case "reasoning":
            opening, inner = _thinking(item), _reasoning(at, item)
        case "function_call":
            opening, inner = {**item, "arguments": ""}, _text("response.function_call_arguments", at, item, "arguments")
        case "mcp_call":
            opening, inner = {**item, "arguments": ""}, _text("response.mcp_call_arguments", at, item, "arguments")
        case "custom_tool_call":
            opening, inner = {**item, "input": ""}, _text("response.custom_tool_call_input", at, item, "input")
        case _:
            pass  # hosted tools and kinds nobody knows are stated whole
    if "status" in item:
        opening = {**opening, "status": "in_progress"}
    yield "response.output_item.added", {"output_index": index, "item": opening}
    yield from inner
    yield "response.output_item.done", {"output_index": index, "item": item}


def _message(at: Object, item: Object) -> Iterator[Fields]:
    for index, part in enumerate(raw.objects(item.get("content"))):
        here: Object = {**at, "content_index": index}
        if part.get("type") == "refusal":
            opening, inner = {**part, "refusal": ""}, _text("response.refusal", here, part, "refusal")
        else:
            opening, inner = _unsaid(part), _output_text(here, part)
        yield "response.content_part.added", {**here, "part": opening}
        yield from inner
        yield "response.content_part.done", {**here, "part": part}


def _unsaid(part: Object) -> Object:
    empty: Object = {"text": "", "annotations": [], "logprobs": []}
    return part | {key: value for key, value in empty.items() if key in part}


def _output_text(here: Object, part: Object) -> Iterator[Fields]:
    if isinstance(part.get("text"), str):
        logprobs: Object = {"logprobs": []}
        yield from _text("response.output_text", here, part, "text", logprobs)
    for index, annotation in enumerate(raw.as_list(part.get("annotations"))):
        fields: Object = {**here, "annotation_index": index, "annotation": annotation}
        yield "response.output_text.annotation.added", fields


def _thinking(item: Object) -> Object:
    return item | {key: [] for key in ("summary", "content") if isinstance(item.get(key), list)}


def _reasoning(at: Object, item: Object) -> Iterator[Fields]:
    for index, part in enumerate(raw.objects(item.get("summary"))):
        here: Object = {**at, "summary_index": index}
        yield "response.reasoning_summary_part.added", {**here, "part": {**part, "text": ""}}
        yield from _text("response.reasoning_summary_text", here, part, "text")
        yield "response.reasoning_summary_part.done", {**here, "part": part}
    for index, part in enumerate(raw.objects(item.get("content"))):
        yield from _text("response.reasoning_text", {**at, "content_index": index}, part, "text")


def _text(
    kind: str, at: Object, owner: Object, key: str, extra: Mapping[str, JsonValue] | None = None
) -> Iterator[Fields]:
    """A text piece by piece, then whole."""
    text = raw.as_text(owner.get(key))
    for piece in delta.pieces(text):
        yield f"{kind}.delta", {**at, "delta": piece, **(extra or {})}
    yield f"{kind}.done", {**at, key: text, **(extra or {})}


def _payload(event: StreamEvent) -> Object:
    try:
        return raw.as_object(raw.parse(event.data))
    except ValueError:
        return {}  # a frame cut in the middle
