"""`faults:` as they are written, and what the boundary makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowproof_addons.session import McpFault, ModelFault
from flowproof_runner.flow import faults
from flowproof_runner.spec.explain import explain
from flowproof_runner.spec.file import LoadedSpec

type Load = Callable[..., LoadedSpec]
type Wrong = Callable[..., list[str]]

SERVER = "mcp: [{name: fs, command: fs-server}]\n"


@pytest.mark.parametrize(
    ("entry", "label", "fields"),
    [
        (
            "answer: 429, times: 2, retry_after: 1.5",
            "answer 429",
            {"kind": "answer", "status": 429, "times": 2, "retry_after_s": 1.5},
        ),
        ("answer: 529", "answer 529", {"kind": "answer", "status": 529}),
        ("timeout: 5s", "no answer for 5 s", {"kind": "timeout", "seconds": 5.0}),
        ("connection: reset", "connection reset", {"kind": "reset"}),
        ("connection: closed", "connection closed", {"kind": "closed"}),
        ("cut: 0", "cut after 0 frames", {"kind": "cut", "frames": 0}),
        ("cut: half", "cut in half", {"kind": "cut", "frames": None}),
        ("malformed: true", "malformed tool arguments", {"kind": "malformed"}),
        ("slow: 50ms", "slow, 0.05 s a frame", {"kind": "slow", "seconds": 0.05}),
    ],
)
def test_a_fault_at_a_turn(spec: Load, entry: str, label: str, fields: dict[str, Any]) -> None:
    (found,) = faults.of_model(spec(f"faults: [{{turn: 2, {entry}}}]\n").spec)
    assert found == ModelFault(label=f"turn 2: {label}", turn=2, **fields)


@pytest.mark.parametrize(
    ("entry", "label", "fields"),
    [
        ("error: disk full, nth: 3", "call 3: tool error 'disk full'", {"kind": "error", "message": "disk full"}),
        (
            "rpc_error: busy, code: -32000",
            "call 1: JSON-RPC error 'busy'",
            {"kind": "rpc_error", "message": "busy", "code": -32000},
        ),
        ("timeout: 2s", "call 1: no answer for 2 s", {"kind": "timeout", "seconds": 2.0}),
        ("dies: true", "call 1: the server dies", {"kind": "dies"}),
        ("slow: 1s", "call 1: slow, 1 s", {"kind": "slow", "seconds": 1.0}),
    ],
)
def test_a_fault_at_a_call(spec: Load, entry: str, label: str, fields: dict[str, Any]) -> None:
    (found,) = faults.of_mcp(spec(f"{SERVER}faults: [{{mcp: fs, call: read, {entry}}}]\n").spec)
    nth = 3 if "nth" in entry else 1
    assert found == McpFault(label=f"mcp.fs.read {label}", server="fs", tool="read", nth=nth, **fields)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("answer: 429", "1:10: faults.0: exactly one of turn and mcp is needed: where does it happen?"),
        ("turn: 1, mcp: fs, call: read, slow: 1s", "1:10: faults.0: exactly one of turn and mcp is needed"),
        (
            "turn: 1",
            "1:10: faults.0: exactly one of answer, timeout, connection, cut, malformed, slow is needed, found",
        ),
        ("turn: 1, answer: 429, cut: 2", "found answer and cut"),
        ("turn: 0, answer: 429", "faults.0.turn"),
        ("turn: 1, answer: 200", "200 is no status of an error; accepted: 400 to 599"),
        ("turn: 1, answer: soon", "'soon' is no status of an error"),
        ("turn: 1, answer: 429, retry_after: -1", "-1 is no number of seconds"),
        ("turn: 1, cut: 2, retry_after: 1", "faults.0.retry_after: goes with answer"),
        ("turn: 1, cut: third", "'third' is no place to cut; accepted: a number of frames, or half"),
        ("turn: 1, timeout: 5", "5 is no duration"),
        ("turn: 1, connection: refused", "faults.0.connection"),
        ("turn: 1, error: disk full", "faults.0.error: does not go with turn; accepted: answer, timeout"),
        ("turn: 1, answer: 429, nth: 2", "faults.0.nth: does not go with turn"),
        ("mcp: fs, call: read, answer: 429", "faults.0.answer: does not go with mcp; accepted: error, rpc_error"),
        ("mcp: fs, error: x", "call is needed with mcp: which tool?"),
        ("mcp: fs, call: read, error: x, code: 3", "faults.0.code: goes with rpc_error"),
        ("mcp: fs, call: read, error: x", "faults.0.mcp: 'fs' is no server under mcp; declared: none is declared"),
        ("turn: 1, answr: 429", "faults.0.answr: unknown key"),
        ("turn: 1, answer: 429}, {turn: 1, answer: 429", "faults.1: says the same as entry 1; give that one times"),
    ],
)
def test_what_cannot_be_meant_is_refused_where_it_stands(wrong: Wrong, entry: str, said: str) -> None:
    problems = wrong(f"faults: [{{{entry}}}]\n")
    assert any(said in problem for problem in problems), problems


def test_what_is_understood_is_told_with_its_place(spec: Load) -> None:
    told = explain(spec("faults: [{turn: 2, answer: 429, times: 3}]\n"))
    assert "x.flow.yaml:1: turn 2: answer 429, 3 times in a row" in told


def test_a_cassette_keeps_no_defaults(spec: Load) -> None:
    kept = faults.kept(spec("faults: [{turn: 2, cut: 1}]\n").spec)
    assert kept == [{"label": "turn 2: cut after 1 frame", "turn": 2, "kind": "cut", "frames": 1}]


def test_turns_over_a_websocket_meet_no_faults(spec: Load, wrong: Wrong) -> None:
    """An entry that would never happen must not be taken; MCP calls go another way."""
    socket = "agent: {command: a, responses_websocket: true}\n"
    [problem] = wrong(f"{socket}faults: [{{turn: 1, answer: 429}}]\n")
    assert "faults.0.turn: does not go with agent.responses_websocket" in problem
    assert spec(f"{socket}{SERVER}faults: [{{mcp: fs, call: read, slow: 1s}}]\n").spec.agent.responses_websocket
