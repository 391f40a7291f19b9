"""A trace as people read it."""

from __future__ import annotations

from dataclasses import replace

from flowproof_addons.dialects.registry import default
from flowproof_addons.trace.model import BytesBody, Exchange, Fault, JsonBody, JsonValue, Reply, Request, Trace
from flowproof_runner.evidence.build import build
from flowproof_runner.flow.tally import tally
from flowproof_runner.report.style import Style
from flowproof_runner.report.timeline import render
from flowproof_runner.result import Counts


def turn(messages: list[JsonValue], message: dict[str, JsonValue]) -> Exchange:
    offered: list[JsonValue] = [{"type": "function", "function": {"name": "lookup"}}]
    reply: JsonValue = {
        "id": "c",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 2, "total_tokens": 702},
    }
    request = Request(
        "POST", "/v1/chat/completions", "", JsonBody({"model": "m-1", "messages": messages, "tools": offered})
    )
    return Exchange(request, Reply(200, JsonBody(reply)), "openai-chat")


CALL: dict[str, JsonValue] = {
    "content": None,
    "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "lookup", "arguments": '{"key": "a"}'}}],
}
USER: JsonValue = {"role": "user", "content": "Look it up"}
TOLD: JsonValue = {"role": "tool", "tool_call_id": "t1", "content": "x" * 300}
SIDE = Exchange(Request("GET", "/v1/models", "", BytesBody(b"")), Reply(200, BytesBody(b"")))
TRACE = Trace(
    "flowproof 0.1.0",
    "2026-12-02T06:45:12Z",
    "",
    (turn([USER], CALL), SIDE, turn([USER, {"role": "assistant", **CALL}, TOLD], {"content": "one\n\ntwo\x1b[31m"})),
)


def shown(*, full: bool = False) -> str:
    registry = default()
    counts = tally(TRACE.exchanges, registry, None)
    return render("a.trace.json", TRACE, build(TRACE, registry), counts, Style(), full=full)


def test_a_timeline_reads_turn_by_turn() -> None:
    assert (
        shown()
        == f"""\
a.trace.json
recorded 2026-12-02T06:45:12Z by flowproof 0.1.0
2 turns, 1 tool call, 1 side call, 1,400 tokens in, 4 tokens out

turn 1  openai-chat m-1, 1 tool offered
  calls      lookup {{"key": "a"}}
turn 2  openai-chat m-1, 1 tool offered
  told       lookup {"x" * 200}… (300 characters)
  replies    one
             two

side call  GET /v1/models → 200
"""
    )


def test_a_fault_stands_before_the_turn_it_stood_in_for() -> None:
    cut, silent = Fault("turn 2: cut in half", 2), Fault("turn 2: no answer for 5 s", 2)
    faulted = (
        replace(turn([USER], CALL), fault=cut),
        replace(turn([USER], CALL), reply=Reply(0, BytesBody(b"")), fault=silent),
    )
    trace = replace(TRACE, faulted=faulted)
    lines = render("a", trace, build(trace, default()), Counts(), Style()).splitlines()
    place = lines.index("turn 2  openai-chat m-1, 1 tool offered")
    assert lines[place - 2 : place] == [
        "  fault    turn 2: cut in half (answered 200)",
        "  fault    turn 2: no answer for 5 s",
    ]


def test_in_full_nothing_is_cut() -> None:
    assert f"lookup {'x' * 300}\n" in shown(full=True)
