"""When an approval lets a call through."""

from __future__ import annotations

import pytest
from tests.addons.mcp.stage import tool_call

from flowproof_addons.mcp.approvals import Approvals, approves
from flowproof_addons.mcp.lane import Call
from flowproof_addons.mcp.policy import Policy
from flowproof_addons.session import McpConfirm, McpServer
from flowproof_addons.trace.model import JsonValue

ASKED = McpConfirm(tool="pay", by="ask")
BOUND = McpConfirm(tool="pay", by="ask", bound=True)


def answered(yes: bool, **about: JsonValue) -> Call:
    text = "yes" if yes else "no"
    result: JsonValue = {"content": [{"type": "text", "text": text}]}
    params: JsonValue = {"name": "ask", "arguments": {"question": "?", "arguments": about}}
    assert isinstance(params, dict)
    return Call(method="tools/call", params=params, opened=1, outcome={"result": result})


def passes(rule: McpConfirm, *asked: Call, calls: int = 1, **arguments: JsonValue) -> list[bool]:
    approvals = Approvals.asked_by((rule,))
    policy = Policy(McpServer(name="bank", command=("bank",), confirm=(rule,)), approvals)
    for call in asked:
        approvals.heard(call)
    return [policy.answer(tool_call(n, "pay", **arguments)) is None for n in range(calls)]


def test_without_an_approval_a_call_is_refused() -> None:
    assert passes(ASKED) == [False]


def test_one_approval_lets_one_call_through() -> None:
    assert passes(ASKED, answered(True), calls=2) == [True, False]


def test_a_no_approves_nothing() -> None:
    assert passes(ASKED, answered(False)) == [False]


def test_a_bound_approval_is_for_exactly_these_arguments() -> None:
    assert passes(BOUND, answered(True, sum=1), sum=1) == [True]
    assert passes(BOUND, answered(True, sum=1), sum=2) == [False]


def test_a_later_no_to_the_same_takes_an_approval_back() -> None:
    assert passes(BOUND, answered(True, sum=1), answered(False, sum=1), sum=1) == [False]
    assert passes(BOUND, answered(True, sum=1), answered(False, sum=2), sum=1) == [True]


def test_where_no_lane_can_see_an_approval_every_call_is_refused() -> None:
    assert passes(McpConfirm(tool="pay"), answered(True)) == [False]


def test_another_tool_is_not_touched() -> None:
    policy = Policy(McpServer(name="bank", command=("bank",), confirm=(ASKED,)), Approvals.asked_by((ASKED,)))
    assert policy.answer(tool_call(1, "see")) is None


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"content": [{"type": "text", "text": "Yes"}]}, True),
        ({"content": [{"type": "text", "text": '{"approved": true}'}]}, True),
        ({"structuredContent": {"action": "accept"}}, True),
        ({"structuredContent": {"result": "approved"}}, True),
        ({"content": [{"type": "text", "text": "yes, but later"}]}, False),
        ({"content": [{"type": "text", "text": "yes"}], "isError": True}, False),
        ({"structuredContent": {"action": "decline"}}, False),
        ({}, False),
    ],
)
def test_what_counts_as_a_yes(result: JsonValue, expected: bool) -> None:
    assert approves({"result": result}) is expected
