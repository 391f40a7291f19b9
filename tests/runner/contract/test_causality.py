"""Model-driven runs: what a call was informed by, parallel siblings, and what was asked for but not done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flowproof_runner.evidence.model import Decided, Dispatched, Evidence, Replied, Returned, Told
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.findings import Exit, exit_code

type Build = Callable[..., Contract]


def ids(contract: Contract, run: Any) -> list[str]:
    return [found.id for found in evaluate(contract, run.evidence())]


def test_a_sibling_is_not_informed_by_its_sibling(run: Any, contract: Build) -> None:
    built = contract(order=["look before act"])
    run.turn(("look", {}, {"ok": 1}), ("act", {}, None))
    assert ids(built, run) == ["tool.precedence"]


def test_a_call_of_the_next_turn_is_informed(run: Any, contract: Build) -> None:
    built = contract(order=["look before act", "look then act"])
    run.turn(("look", {}, {"ok": 1})).turn(("act", {}, None))
    assert ids(built, run) == []


def test_siblings_cannot_satisfy_an_order(run: Any, contract: Build) -> None:
    built = contract(order=["look then act"])
    run.turn(("look", {}, 1), ("act", {}, 2))
    assert ids(built, run) == ["tool.order"]
    run.turn(("act", {}, 2))
    assert ids(built, run) == []


def test_a_result_refers_only_to_what_the_model_had_been_told(run: Any, contract: Build) -> None:
    built = contract(("look",), args=["act where id equals look.id"])
    run.turn(("look", {}, {"id": 7}), ("act", {"id": 7}, None))
    assert ids(built, run) == ["tool.arguments_reference_unresolved"]


def test_results_are_read_through_their_wrapping(run: Any, contract: Build) -> None:
    built = contract(("a", "b", "c", "d"), args=["act where id in [a.id, b.id, c.id, d.id] and n equals a.id"])
    run.turn(
        ("a", {}, '{"id": 1}'),
        ("b", {}, [{"type": "text", "text": '{"id": 2}'}]),
        ("c", {}, {"content": [{"type": "text", "text": "x"}], "structuredContent": {"id": 3}}),
        ("d", {}, {"id": 4}),
    )
    run.turn(*[("act", {"id": n, "n": 1}, None) for n in (1, 2, 3, 4)])
    assert ids(built, run) == []
    run.turn(("act", {"id": 5, "n": 1}, None))
    assert ids(built, run) == ["tool.arguments_subset"]


def mcp(decided: bool, dispatched: bool, tool: str = "mcp__fs__wipe") -> Evidence:
    """A model's decision and an MCP lane's dispatch, whose ids say nothing of one another."""
    events: list[Any] = []
    if decided:
        events.append(
            Decided(
                seq=0,
                lane="model",
                call="toolu_1",
                tool=tool,
                arguments={"p": 1},
                arguments_text="{}",
                thread="t",
                group=1,
                known=(),
            )
        )
    if dispatched:
        events.append(Dispatched(seq=1, lane="fs", call="rpc-9", tool="wipe", arguments={"p": 1}))
        events.append(Returned(seq=2, lane="fs", call="rpc-9", tool="wipe", result={"n": 4}))
    if decided:
        events.append(Told(seq=3, lane="model", call="toolu_1", tool=tool, result='{"n": 4}'))
    names = {name: "fs" for name in ("wipe", "fs.wipe", "fs/wipe", "fs__wipe", "mcp__fs__wipe")}
    return Evidence(tuple(events), frozenset({"fs"}), names)


def test_a_forbidden_call_counts_when_it_reached_the_server(contract: Build) -> None:
    for name in ("wipe", "fs.wipe", "mcp__fs__wipe"):
        built = contract(calls=[f"{name} never"])
        assert exit_code(evaluate(built, mcp(True, True))) == Exit.CRITICAL
        assert exit_code(evaluate(built, mcp(False, True))) == Exit.CRITICAL
        assert evaluate(built, mcp(True, False)) == ()


def test_asking_for_a_forbidden_call_can_be_forbidden_too(contract: Build) -> None:
    built = contract(calls=["wipe never requested"])
    found = evaluate(built, mcp(True, False))
    assert [(each.id, each.severity) for each in found] == [("tool.forbidden_requested", "error")]
    assert [each.id for each in evaluate(built, mcp(True, True))] == ["tool.forbidden"]


def test_a_decision_and_its_dispatch_are_one_call(contract: Build) -> None:
    assert evaluate(contract(calls=["exactly 1 of wipe", "exactly 1 calls"]), mcp(True, True)) == ()


def test_arguments_that_are_no_object_are_a_finding_of_their_own(run: Any, contract: Build) -> None:
    run.turn(("act", "{broken", None))
    assert ids(contract(args=["act where id equals 1"]), run) == ["tool.arguments_unreadable"]


def test_the_status_of_a_model_run_is_its_last_stop_reason(contract: Build) -> None:
    def ended(stop: str | None, status: int = 200) -> Evidence:
        reply = Replied(seq=0, lane="model", thread="t", status=status, text="", model="m", stop=stop)
        return Evidence((reply,))

    built = contract(outcome={"status": "completed"})
    assert evaluate(built, ended("end_turn")) == ()
    assert [found.actual for found in evaluate(built, ended("max_tokens"))] == ["truncated"]
    assert [found.actual for found in evaluate(built, ended("content_filter"))] == ["refused"]
    assert [found.actual for found in evaluate(built, ended(None, 500))] == ["error"]
    assert [found.actual for found in evaluate(built, Evidence(()))] == [None]
