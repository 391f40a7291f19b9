"""Faults are counted by turns and calls, and what is repeated is still the same one."""

from __future__ import annotations

from flowproof_addons.faults import Faults
from flowproof_addons.session import McpFault, ModelFault


def model(turn: int, times: int = 1, status: int = 429) -> ModelFault:
    return ModelFault(label=f"turn {turn}: answer {status}", turn=turn, times=times, kind="answer", status=status)


def test_faults_of_one_turn_come_one_after_the_other_each_as_often_as_it_says() -> None:
    faults = Faults((model(2, times=2), model(2, status=500), model(1)))
    seen = []
    while (fault := faults.at(2)) is not None:
        faults.fired(fault)
        seen.append(fault.status)
    assert seen == [429, 429, 500]
    assert faults.at(1) is not None


def test_a_request_that_comes_again_is_the_turn_it_was_to_be() -> None:
    faults = Faults()
    assert [faults.turn_of(key) for key in (b"a", b"b", b"a")] == [1, 2, 1]
    faults.answered(b"a")
    assert faults.turn_of(b"a") == 3


def test_after_a_fault_another_request_takes_the_turn() -> None:
    faults = Faults()
    assert faults.turn_of(b"a") == 1
    faults.failed(b"a")
    assert faults.turn_of(b"b") == 1


def test_a_request_that_came_again_before_its_fault_ended_keeps_the_turn() -> None:
    faults = Faults()
    assert [faults.turn_of(b"a"), faults.turn_of(b"a")] == [1, 1]
    faults.failed(b"a")
    assert [faults.turn_of(b"b"), faults.turn_of(b"a")] == [2, 1]


def test_calls_are_told_apart_by_server_tool_and_number() -> None:
    fault = McpFault(label="x", server="fs", tool="read", nth=2, kind="error")
    faults = Faults((), (fault,))
    asked = [("fs", "read", 1), ("other", "read", 2), ("fs", "write", 2), ("fs", "read", 2)]
    assert [faults.of_call(*each) for each in asked] == [None, None, None, fault]
    faults.fired(fault)
    assert faults.of_call("fs", "read", 2) is None


def test_what_happened_is_told_in_the_order_of_the_spec_with_what_never_did() -> None:
    faults = Faults((model(2, times=2), model(1)))
    faults.fired(model(2))
    faults.remark(model(2), "the agent gave up")
    assert faults.told() == [
        {"label": "turn 2: answer 429", "times": 2, "fired": 1, "remarks": ["the agent gave up"]},
        {"label": "turn 1: answer 429", "times": 1, "fired": 0, "remarks": []},
    ]
