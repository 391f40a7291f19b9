"""A trace as a readable timeline: what was asked, decided, told and replied, turn by turn."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import assert_never

from flowproof_addons.trace.model import Exchange, JsonValue, Trace
from flowproof_runner.drivers.tail import clean
from flowproof_runner.evidence.model import (
    AnyEvent,
    Asked,
    Concluded,
    Confirmed,
    Decided,
    Denied,
    Discovered,
    Dispatched,
    Diverged,
    Evidence,
    Faulted,
    Replied,
    Returned,
    Told,
)
from flowproof_runner.report import words
from flowproof_runner.report.style import Style
from flowproof_runner.result import Counts

_WIDTH = 200


def render(title: str, trace: Trace, evidence: Evidence, counts: Counts, style: Style, *, full: bool = False) -> str:
    """The timeline. Long values are cut unless `full`."""
    width = None if full else _WIDTH
    lines = [style(clean(title), "bold"), f"recorded {trace.recorded_at} by {trace.recorded_by}", _counted(counts), ""]
    for event in evidence.events:
        lines += _event(event, style, width)
    lines += _side_calls((e for e in trace.exchanges if not e.is_turn), style)
    return "\n".join(lines) + "\n"


def _counted(counts: Counts) -> str:
    parts = [words.turns(counts), words.number(counts.tool_calls, "tool call")]
    if counts.side_calls:
        parts.append(words.number(counts.side_calls, "side call"))
    if counts.input_tokens is not None:
        parts.append(f"{counts.input_tokens:,} tokens in")
    if counts.output_tokens is not None:
        parts.append(f"{counts.output_tokens:,} tokens out")
    return ", ".join(parts)


def _event(event: AnyEvent, style: Style, width: int | None) -> Iterator[str]:
    match event:
        case Asked():
            offered = words.number(len(event.tools), "tool") + " offered" if event.tools else "no tools"
            yield style(f"turn {event.turn}", "bold") + style(
                f"  {event.dialect} {clean(event.model)}, {offered}", "dim"
            )
        case Told():
            yield _call("told", event.tool, event.result, style, width, _marks(event))
        case Decided():
            yield _call("calls", event.tool, event.arguments, style, width)
        case Replied():
            yield from _reply(event, style, width)
        case Dispatched():
            yield _call(f"{event.lane} got", event.tool, event.arguments, style, width)
        case Returned():
            yield _call(f"{event.lane} said", event.tool, event.result, style, width, _marks(event))
        case Denied():
            yield _call(f"refused ({clean(event.reason)})", event.tool, event.arguments, style, width)
        case Confirmed():
            yield _call("confirmed" if event.granted else "not confirmed", event.tool, event.arguments, style, width)
        case Concluded():
            yield _labelled("outcome", f"{event.status or ''} {_short(event.output, width)}".strip(), style)
        case Discovered():
            yield _labelled(f"{event.lane} offers", words.number(len(event.tools), "tool"), style)
        case Diverged():
            yield style("  diverged ", "red", "bold") + clean(str(event.report.get("message", "")))
        case Faulted():
            answered = f" (answered {event.status})" if event.status else ""
            yield style("  fault    ", "yellow", "bold") + clean(event.label) + answered
        case _:
            assert_never(event)


def _call(label: str, tool: str, value: JsonValue, style: Style, width: int | None, marks: str = "") -> str:
    return _labelled(label, f"{style(clean(tool), 'cyan')} {_short(value, width)}{style(marks, 'yellow')}", style)


def _marks(event: Told | Returned) -> str:
    return (
        " (error)" * event.is_error
        + " (from the spec)" * event.mocked
        + " (a fault)" * (isinstance(event, Returned) and event.fault)
    )


def _reply(event: Replied, style: Style, width: int | None) -> Iterator[str]:
    if event.status >= 400:
        yield style(f"  answered {event.status}", "red")
    if event.text:
        first, *more = (line for line in clean(event.text).split("\n") if line.strip())
        yield _labelled("replies", _cut(first, width), style)
        yield from (f"             {_cut(line, width)}" for line in (more if width is None else more[:3]))
        if width is not None and len(more) > 3:
            yield style(f"             … {len(more) - 3} more lines", "dim")


def _labelled(label: str, text: str, style: Style) -> str:
    return f"  {style(f'{clean(label):<9}', 'dim')}  {text}"


def _short(value: JsonValue, width: int | None) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _cut(clean(text).replace("\n", " "), width)


def _cut(text: str, width: int | None) -> str:
    return text if width is None or len(text) <= width else f"{text[:width]}… ({len(text):,} characters)"


def _side_calls(exchanges: Iterable[Exchange], style: Style) -> Iterator[str]:
    for number, exchange in enumerate(exchanges):
        if not number:
            yield ""
        request = exchange.request
        yield f"{style('side call', 'dim')}  {request.method} {clean(request.path)} → {exchange.reply.status}"
