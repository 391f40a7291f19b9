"""Streams of Gemini: whole responses whose texts continue each other, folded into one, and made from one.

https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent (read 2026-12-02).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from flowproof_addons.dialects import delta, raw
from flowproof_addons.dialects.base import StreamEvent
from flowproof_addons.trace.model import JsonValue

type Object = dict[str, JsonValue]


def assemble(events: Sequence[StreamEvent]) -> JsonValue:
    """The response these events add up to; None where there is none."""
    return fold(chunk for event in events if (chunk := _chunk(event)))


def fold(chunks: Iterable[Object]) -> JsonValue:
    """One response from the chunks of one; None without any. Counts and endings are those of the last that has them."""
    response: Object | None = None
    candidates: dict[int, Object] = {}
    for chunk in chunks:
        response = {} if response is None else response
        delta.update(response, {k: v for k, v in chunk.items() if k != "candidates"})
        for position, candidate in enumerate(raw.objects(chunk.get("candidates"))):
            index = raw.as_int(candidate.get("index"))
            _continue(candidates.setdefault(position if index is None else index, {}), candidate)
    if response is not None and candidates:
        response["candidates"] = [candidates[index] for index in sorted(candidates)]
    return response


def synthesise(response: Mapping[str, JsonValue]) -> Iterator[StreamEvent]:
    """The events Gemini would have streamed: a piece of text or one other part each, how it ended in the last."""
    base: Object = {key: response[key] for key in ("modelVersion", "responseId") if key in response}
    own: Object = {k: v for k, v in response.items() if k not in (*base, "candidates", "usageMetadata")}
    chunks = [[part] for candidate in raw.objects(response.get("candidates")) for part in _parts(candidate)] or [[]]
    for number, part in enumerate(chunks):
        chunk: Object = {**base, **own} if number == 0 else dict(base)
        if "candidates" in response:
            chunk["candidates"] = list[JsonValue](part)
        if number == len(chunks) - 1 and "usageMetadata" in response:
            chunk["usageMetadata"] = response["usageMetadata"]
        yield StreamEvent(raw.compact(chunk))


def _continue(target: Object, candidate: Object) -> None:
    content = candidate.get("content")
    delta.update(target, {k: v for k, v in candidate.items() if k != "content"})
    if not isinstance(content, dict):
        if "content" in candidate:
            target.setdefault("content", content)
        return
    known = dict(raw.as_object(target.get("content")))
    delta.update(known, {k: v for k, v in content.items() if k != "parts"})
    if "parts" in content:
        parts = list(raw.as_list(known.get("parts")))
        for part in raw.as_list(content["parts"]):
            _add(parts, part)
        known["parts"] = parts
    target["content"] = known


def _add(parts: list[JsonValue], part: JsonValue) -> None:
    """A text continues the text before it, thoughts and answers apart; a signature ends what it signs."""
    last, new = raw.as_object(parts[-1]) if parts else {}, raw.as_object(part)
    said, more = last.get("text"), new.get("text")
    alike = last.get("thought") == new.get("thought") and "thoughtSignature" not in last
    if isinstance(said, str) and isinstance(more, str) and alike:
        parts[-1] = {**last, **new, "text": said + more}
    else:
        parts.append(part)


def _parts(candidate: Object) -> Iterator[Object]:
    """The candidate as it would sit in successive chunks."""
    content = raw.as_object(candidate.get("content"))
    index: Object = {"index": candidate["index"]} if "index" in candidate else {}
    role: Object = {k: v for k, v in content.items() if k != "parts"}
    parts = [piece for part in raw.as_list(content.get("parts")) for piece in _pieces(part)]
    for piece in parts[:-1]:
        yield {"content": {"parts": [piece], **role}, **index}
    last: Object = {"content": {**content, "parts": parts[-1:]}} if parts else {}
    yield {**candidate, **last}


def _pieces(part: JsonValue) -> list[JsonValue]:
    text = raw.at(part, "text")
    if not isinstance(part, dict) or not isinstance(text, str):
        return [part]
    pieces = delta.pieces(text) or [""]
    unsigned = {k: v for k, v in part.items() if k != "thoughtSignature"}
    return [*({**unsigned, "text": piece} for piece in pieces[:-1]), {**part, "text": pieces[-1]}]


def _chunk(event: StreamEvent) -> Object | None:
    try:
        chunk = raw.as_object(raw.parse(event.data))
    except ValueError:
        return None  # a frame cut in the middle
    return None if "error" in chunk else chunk or None
