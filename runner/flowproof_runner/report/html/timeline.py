"""A flow turn by turn, and each call with its four observations."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from flowproof_addons.dialects.base import Said
from flowproof_addons.trace import json_value
from flowproof_runner.evidence.model import Confirmed
from flowproof_runner.records.story import Told
from flowproof_runner.report import words
from flowproof_runner.report.html import values
from flowproof_runner.report.html.difference import difference
from flowproof_runner.report.html.markup import Child, Markup, el, join
from flowproof_runner.report.html.turns import Call, Turn, outcome, turns

MOST = 300
"""Turns of one flow that the page shows."""

_EQUALITY = {
    "bytes": "equal byte for byte",
    "json": "equal as JSON",
    "rules": "equal under pins",
}


def timeline(told: Told, name: str, shown_above: Container[str] = ()) -> Markup:
    """All turns; `name` makes the page's anchors unique. `shown_above`: details of divergences not to be repeated."""
    found = turns(told)
    shown = found[:MOST]
    concluded = outcome(told)
    return el(
        "div",
        el("ol", (_turn(turn, name, shown_above) for turn in shown), cls="turns"),
        _left_out(len(found) - len(shown)),
        [el("h5", "Outcome"), values.value(concluded.output)] if concluded else None,
        _side_calls(told),
    )


def _left_out(count: int) -> Child:
    return el("p", f"{words.number(count, 'more turn')}: flowproof show --full", cls="muted") if count > 0 else None


def _turn(turn: Turn, name: str, shown_above: Container[str]) -> Markup:
    heading = turn.title or f"Turn {turn.number}"
    return el(
        "li",
        el("h5", heading, " ", el("span", join(" · ", _facts(turn)), cls="facts")),
        [el("p", el("b", "fault: "), event.label, cls="note") for event in turn.faults],
        [_heard(said) for said in turn.heard],
        _told(turn.told, name),
        _diverged(turn, shown_above),
        _reply(turn),
        [_confirmation(event) for event in turn.confirmed],
        [_call(call, name) for call in turn.calls],
        _strays(turn.strays, name),
        id=f"{name}-turn-{turn.number}" if turn.number else None,
        cls="turn diverged" if turn.diverged else "turn",
    )


def _facts(turn: Turn) -> Iterator[Child]:
    if turn.asked is None:
        if turn.exchange is not None:
            yield f"{turn.exchange.dialect}, which this flowproof cannot read"
        return
    yield turn.asked.dialect
    yield turn.asked.model
    yield f"{words.number(len(turn.asked.tools), 'tool')} offered" if turn.asked.tools else "no tools offered"
    if turn.exchange is not None:
        yield "streamed" if turn.exchange.reply.streamed else None
        yield words.retried(len(turn.exchange.attempts))
        yield _equality(turn)
    yield _tokens(turn)


def _equality(turn: Turn) -> Child:
    if turn.exchange is None or turn.exchange.equality is None:
        return None
    rules = f": {', '.join(turn.exchange.rules)}" if turn.exchange.rules else ""
    return f"{_EQUALITY[turn.exchange.equality]}{rules}"


def _tokens(turn: Turn) -> Child:
    replied = turn.replied
    if replied is None or (replied.input_tokens is None and replied.output_tokens is None):
        return None
    counts = ((replied.input_tokens, "in"), (replied.output_tokens, "out"))
    return " / ".join(f"{count:,} {way}" for count, way in counts if count is not None) + " tokens"


def _heard(said: Said) -> Markup:
    parts = el("span", f" + {', '.join(said.parts)}", cls="muted") if said.parts else None
    if said.role in ("system", "developer"):
        return el("details", el("summary", f"{said.role} prompt", parts), values.text(said.text), cls="said system")
    return el("div", el("h6", said.role or "message", parts), values.text(said.text), cls="said user")


def _told(calls: Sequence[Call], name: str) -> Child:
    if not calls:
        return None
    links = (el("a", call.tool or "a tool", href=f"#{_anchor(call, name)}") for call in calls)
    return el("p", "told the result of ", join(", ", links), cls="told")


def _diverged(turn: Turn, shown_above: Container[str]) -> Child:
    if turn.diverged is None:
        return None
    report = turn.diverged.report
    detail = None if str(report.get("detail") or "") in shown_above else difference(report)
    return el("div", el("p", el("b", "diverged: "), str(report.get("message", ""))), detail, cls="note bad")


def _reply(turn: Turn) -> Child:
    replied = turn.replied
    if replied is None:
        return None
    refused = el("p", f"answered {replied.status}", cls="note bad") if replied.status >= 400 else None
    abandoned = el("p", "the agent hung up before the answer came", cls="muted") if replied.status == 0 else None
    if not replied.text:
        silent = None if turn.calls or refused or abandoned else el("p", "an answer without text", cls="muted")
        return [refused, abandoned, silent]
    said = el("div", el("h6", "assistant"), values.text(replied.text), cls="said assistant")
    return [refused, said]


def _confirmation(event: Confirmed) -> Markup:
    word = "confirmed: " if event.granted else "not confirmed: "
    return el("p", word, el("code", event.tool, cls="tool"), " ", values.arguments(event.arguments), cls="told")


def _call(call: Call, name: str) -> Markup:
    return el(
        "article",
        el("h6", el("code", call.tool or "unnamed", cls="tool"), _lane(call), _badges(call)),
        el("ol", _steps(call, name), cls="seen", aria_label="what was observed of this call"),
        _arguments(call),
        _results(call),
        cls="call bad" if call.failed or call.denied else "call",
        id=_anchor(call, name),
    )


def _anchor(call: Call, name: str) -> str:
    return f"{name}-call-{call.number}"


def _lane(call: Call) -> Child:
    event = call.dispatched or call.denied
    return el("span", event.lane, cls="lane") if event is not None else None


def _badges(call: Call) -> Iterator[Child]:
    if call.denied is not None:
        yield el("span", "refused", cls="badge fail")
    if call.failed:
        yield el("span", "error", cls="badge fail")
    if call.confirmed is not None:
        yield el("span", "confirmed" if call.confirmed.granted else "not confirmed", cls="badge skip")
    if any(answer is not None and answer.mocked for answer in (call.returned, call.told)):
        yield el("span", "result from the spec", cls="badge skip")


def _steps(call: Call, name: str) -> Iterator[Markup]:
    decided, told = call.decided, call.told
    yield _step("decided", f"turn {decided.turn}" if decided else None, missing="by the agent itself")
    if call.denied is not None:
        yield _step("refused", call.denied.reason, bad=True)
    else:
        yield _step("dispatched", f"to {call.dispatched.lane}" if call.dispatched else None, missing="not observed")
    yield _step("returned", _returned(call), missing="never" if call.dispatched else "not observed")
    yield _step("told", f"turn {told.turn}" if told else None, missing="not to the model")


def _step(label: str, detail: str | None, *, missing: str = "", bad: bool = False) -> Markup:
    cls = "bad" if bad else "done" if detail else "none"
    return el("li", el("b", label), " ", el("span", detail or missing), cls=cls)


def _returned(call: Call) -> str | None:
    if call.returned is None:
        return None
    took = f"{call.returned.duration_ms:,.0f} ms" if call.returned.duration_ms is not None else "yes"
    size = f", {call.returned.size_bytes:,} bytes" if call.returned.size_bytes is not None else ""
    return took + size


def _arguments(call: Call) -> Iterator[Child]:
    decided, dispatched = call.decided or call.denied, call.dispatched
    first = decided or dispatched
    if first is None:
        return
    yield _block("arguments", values.value(first.arguments))
    if decided and dispatched and not json_value.same(decided.arguments, dispatched.arguments):
        yield _block("arguments as dispatched: not those the model chose", values.value(dispatched.arguments), bad=True)


def _results(call: Call) -> Iterator[Child]:
    returned, told = call.returned, call.told
    first = returned or told
    if first is None:
        return
    yield _block("result", values.value(first.result))
    if returned and told and not json_value.same(returned.result, told.result):
        yield _block("result as the model was told it", values.value(told.result))


def _block(label: str, content: Markup, *, bad: bool = False) -> Markup:
    return el("div", el("p", label, cls="label bad" if bad else "label"), content, cls="block")


def _strays(calls: Sequence[Call], name: str) -> Child:
    if not calls:
        return None
    return [el("p", "not asked for by the model:", cls="muted"), [_call(call, name) for call in calls]]


def _side_calls(told: Told) -> Child:
    calls = [exchange for exchange in told.trace.exchanges if not exchange.is_turn]
    if not calls:
        return None
    lines = (
        el("li", el("code", f"{call.request.method} {call.request.path}"), f" → {call.reply.status or 'no answer'}")
        for call in calls
    )
    return el("details", el("summary", words.number(len(calls), "side call")), el("ul", lines))
