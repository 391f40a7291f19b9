"""One turn as people read it: what the model was told, what it answered, how that compares with the recording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flowproof_addons.dialects.base import (
    Conversational,
    Dialect,
    ModelReply,
    Said,
    ToolCall,
    ToolResult,
    Usage,
)
from flowproof_addons.live.outline import entry, outline, text
from flowproof_addons.trace.model import Body, BytesBody, JsonBody, JsonValue, MultipartBody, Reply, Request

ABANDONED = "the agent hung up before an answer came"


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a turn besides its two messages."""

    number: int | None = None
    compared: str = ""
    """`equal byte for byte`, `equal under pins: today`."""
    divergence: Mapping[str, JsonValue] | None = None


def request(asked: Request, dialect: Dialect, about: About) -> str:
    """What the model was told."""
    read = dialect.read_request(asked)
    facts = [
        f"turn {about.number}" if about.number else "",
        dialect.name,
        read.model,
        "streamed" if dialect.wants_stream(asked) else "",
        about.compared,
    ]
    said = dialect.read_conversation(asked) if isinstance(dialect, Conversational) else _results_only(read.results)
    lines = [
        _comment(facts),
        *([_comment([f"diverged: {about.divergence.get('message')}"])] if about.divergence else ()),
        *([_comment([f"tools offered: {', '.join(read.tools)}"])] if read.tools else ()),
        *(_spoken(said) if said else ("", *_raw(asked.body))),
    ]
    return "\n".join(lines) + "\n"


def reply(answered: Reply, dialect: Dialect, about: About) -> str:
    """What the model answered; for a divergence, why it was not asked."""
    if about.divergence is not None:
        return "\n".join(_diverged(about.divergence)) + "\n"
    if not isinstance(answered.body, JsonBody):
        return "\n".join(_unread(answered)) + "\n"
    read = dialect.read_reply(answered.body.value)
    head = _comment(
        [f"status {answered.status}", read.model, f"stop: {read.stop}" if read.stop else "", usage(read.usage)]
    )
    lines = [head, *_cut(answered), *_answer(read)]
    if len(lines) == 1:
        lines += ["", *_raw(answered.body)]
    return "\n".join(lines) + "\n"


def usage(counted: Usage) -> str:
    """`492 in / 41 out tokens`; empty where the provider said nothing."""
    parts = [(counted.input, "in"), (counted.output, "out")]
    told = " / ".join(f"{count:,} {way}" for count, way in parts if count is not None)
    return f"{told} tokens" if told else ""


def compared(equality: str | None, rules: Sequence[str]) -> str:
    """How a request equalled its recording, in words."""
    words = {"bytes": "equal byte for byte", "json": "equal as JSON", "rules": "equal under pins"}
    return words.get(equality or "", "") + (f": {', '.join(rules)}" if rules else "")


def _comment(facts: Iterable[str]) -> str:
    return "# " + " · ".join(" ".join(fact.split()) for fact in facts if fact)


def _results_only(results: Sequence[ToolResult]) -> tuple[Said, ...]:
    return (Said("tool", results=tuple(results)),) if results else ()


def _spoken(said: Iterable[Said]) -> Iterator[str]:
    for item in said:
        yield ""
        parts = f"  # with {', '.join(item.parts)}" if item.parts else ""
        if item.text or not (item.calls or item.results):
            yield f"{item.role or 'message'}: |{parts}"
            yield from text(item.text, 1)
        else:
            yield f"{item.role or 'message'}:{parts}"
        yield from _calls(item.calls, 1)
        yield from _results(item.results, 1)


def _answer(read: ModelReply) -> Iterator[str]:
    if read.text is not None:
        yield from ("", "assistant: |", *text(read.text, 1))
    if read.refusal is not None:
        yield from ("", "refusal: |", *text(read.refusal, 1))
    if read.calls:
        yield from ("", "calls:", *_calls(read.calls, 1))


def _calls(calls: Iterable[ToolCall], indent: int) -> Iterator[str]:
    for call in calls:
        yield from entry(call.name or "unnamed", call.arguments, indent, call.id)


def _results(results: Iterable[ToolResult], indent: int) -> Iterator[str]:
    for result in results:
        remark = f"{result.call_id} error" if result.is_error else result.call_id
        yield from entry(result.name or "result", result.content, indent, remark)


def _diverged(report: Mapping[str, JsonValue]) -> Iterator[str]:
    yield _comment([f"diverged: {report.get('message')}"])
    yield "# The model was not asked; the agent was answered with an error."
    yield ""
    yield from text(str(report.get("detail") or ""))


def _cut(answered: Reply) -> list[str]:
    return ["# the stream was cut before its end"] if answered.cut else []


def _unread(answered: Reply) -> Iterator[str]:
    if answered.status == 0:
        yield f"# {ABANDONED}"
        return
    yield _comment([f"status {answered.status}", "not JSON"])
    yield ""
    yield from _raw(BytesBody(b"".join(answered.frames)) if answered.frames else answered.body)


def _raw(body: Body) -> Iterator[str]:
    """A body that holds nothing a dialect knows, as it is."""
    match body:
        case JsonBody(value):
            yield from outline(value)
        case BytesBody(data):
            yield from text(data.decode("utf-8", "replace"))
        case MultipartBody(parts):
            yield f"{len(parts)} parts"
