"""Streams of OpenAI Chat Completions: folded into the completion, and made from one.

https://platform.openai.com/docs/api-reference/chat-streaming and openai-python 3.57 (read 2026-12-02).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flowproof_addons.dialects import delta, raw
from flowproof_addons.dialects.base import StreamEvent
from flowproof_addons.trace.model import JsonValue

type Object = dict[str, JsonValue]

_DONE = "[DONE]"
_EVERY_CHUNK = ("id", "object", "created", "model", "system_fingerprint", "service_tier")
"""OpenAI repeats these in each chunk; SDKs read some from the first and some from the last."""
_STREAMED = ("reasoning_content", "reasoning", "content", "refusal")
"""Message texts that arrive piece by piece, in the order models say them."""


def assemble(events: Sequence[StreamEvent]) -> JsonValue:
    """The completion these chunks add up to; None where there is no chunk at all."""
    chunks = [chunk for event in events if (chunk := _chunk(event)) is not None]
    if not chunks:
        return None
    completion: Object = {}
    choices: dict[int, _Choice] = {}
    for chunk in chunks:
        delta.update(completion, {k: v for k, v in chunk.items() if k not in ("choices", "obfuscation")})
        for position, part in enumerate(raw.objects(chunk["choices"])):
            index = raw.as_int(part.get("index"))
            choices.setdefault(position if index is None else index, _Choice()).add(part)
    if completion.get("object") == "chat.completion.chunk":
        completion["object"] = "chat.completion"
    return {**completion, "choices": [choices[index].value() for index in sorted(choices)]}


def synthesise(completion: Mapping[str, JsonValue], *, usage: bool) -> Iterator[StreamEvent]:
    """The chunks OpenAI would have streamed; `usage`: the client asked for the usage chunk."""
    base: Object = {key: completion[key] for key in _EVERY_CHUNK if key in completion}
    base["object"] = "chat.completion.chunk"
    own: Object = {k: v for k, v in completion.items() if k not in (*base, "choices", "usage")}
    asked = usage and "usage" in completion
    pending: Object = {"usage": None} if asked else {}
    choices = raw.objects(completion.get("choices"))
    for parts in [[part] for choice in choices for part in _parts(choice)] or [[]]:
        yield _event({**base, **own, "choices": list[JsonValue](parts), **pending})
        own = {}
    if asked:
        yield _event({**base, "choices": [], "usage": completion["usage"]})
    yield StreamEvent(_DONE)


class _Choice:
    """One choice being put together."""

    def __init__(self) -> None:
        self._fields: Object = {}
        self._message: Object = {}
        self._calls: list[Object] = []
        self._at: dict[int, Object] = {}

    def add(self, part: Mapping[str, JsonValue]) -> None:
        fragment = dict(raw.as_object(part.get("delta")))
        for call in raw.objects(fragment.get("tool_calls")):
            delta.merge(self._call(call), {k: v for k, v in call.items() if k != "index"})
        delta.merge(self._message, {k: v for k, v in fragment.items() if k != "tool_calls" or not v})
        if "logprobs" in part:
            delta.merge(self._fields, {"logprobs": part["logprobs"]})
        delta.update(self._fields, {k: v for k, v in part.items() if k not in ("delta", "logprobs")})

    def _call(self, fragment: Mapping[str, JsonValue]) -> Object:
        """The call a fragment belongs to; gateways that give no index, or one index to several calls, go by id."""
        index, call_id = raw.as_int(fragment.get("index")), raw.as_text(fragment.get("id"))
        known = self._named(call_id) if index is None else self._at.get(index)
        if known is None or (call_id and raw.as_text(known.get("id")) not in ("", call_id)):
            known = {}
            self._calls.append(known)
        if index is not None:
            self._at[index] = known
        return known

    def _named(self, call_id: str) -> Object | None:
        """The call with this id; a fragment that names none continues the last one."""
        return next((call for call in reversed(self._calls) if call_id in ("", call.get("id"))), None)

    def value(self) -> JsonValue:
        message: Object = {**self._message, "tool_calls": list(self._calls)} if self._calls else self._message
        return {**self._fields, "message": message}


def _chunk(event: StreamEvent) -> Object | None:
    try:
        chunk = raw.as_object(raw.parse(event.data))
    except ValueError:
        return None  # `[DONE]`, or a frame cut in the middle
    return chunk if isinstance(chunk.get("choices"), list) else None


def _parts(choice: Object) -> Iterator[Object]:
    """The choice as it would sit in successive chunks: role first, then texts, tool calls, and how it ended."""
    message = raw.as_object(choice.get("message"))
    index: Object = {"index": choice["index"]} if "index" in choice else {}
    open_: Object = {key: None for key in ("logprobs", "finish_reason") if key in choice}
    for fragment in _fragments(message):
        yield {**index, "delta": fragment, **open_}
    yield {**index, "delta": {}, **{k: v for k, v in choice.items() if k not in ("index", "message")}}


def _fragments(message: Object) -> Iterator[Object]:
    """The message as successive deltas."""
    texts = {key: text for key in _STREAMED if isinstance(text := message.get(key), str) and text}
    yield {k: "" if k in texts else v for k, v in message.items() if k != "tool_calls" or not v}
    for key, text in texts.items():
        for piece in delta.pieces(text):
            yield {key: piece}
    for position, call in enumerate(raw.objects(message.get("tool_calls"))):
        yield from _call_fragments(position, call)


def _call_fragments(position: int, call: Object) -> Iterator[Object]:
    """First who is called, with empty arguments, then the arguments."""
    kind, field = ("custom", "input") if "custom" in call else ("function", "arguments")
    body = raw.as_object(call.get(kind))
    text = body.get(field)
    if not isinstance(text, str):
        yield {"tool_calls": [{"index": position, **call}]}
        return
    yield {"tool_calls": [{"index": position, **call, kind: {**body, field: ""}}]}
    for piece in delta.pieces(text):
        yield {"tool_calls": [{"index": position, kind: {field: piece}}]}


def _event(chunk: Object) -> StreamEvent:
    return StreamEvent(raw.compact(chunk))
