"""Each kind of expectation, with a run that keeps it and one that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.contract.evaluate import evaluate, judge
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.findings import Exit, exit_code

POLICY = {"limit": 100, "approver": "boss"}
LIST = {"items": [{"id": "A", "amount": 10}, {"id": "B", "amount": 500}]}


@dataclass(frozen=True)
class Case:
    id: str
    expect: dict[str, object]
    good: list[tuple[object, ...]]
    bad: list[tuple[object, ...]]
    finding: str
    exit: Exit = Exit.FAILED
    tools: tuple[str, ...] = field(default=("list", "policy"))


def call(tool: str, arguments: object = None, result: object = None) -> tuple[object, ...]:
    return ("call", tool, arguments, result)


def final(output: object = None, status: str = "completed") -> tuple[object, ...]:
    return ("final", output, status)


def yes(tool: str, arguments: object = None) -> tuple[object, ...]:
    return ("confirm", tool, arguments, True)


def no(tool: str, arguments: object = None) -> tuple[object, ...]:
    return ("confirm", tool, arguments, False)


CASES = [
    Case("required", {"calls": ["pay at least once"]}, [call("pay")], [call("list")], "tool.required"),
    Case("bare tool", {"calls": ["pay"]}, [call("pay")], [call("list")], "tool.required"),
    Case("forbidden", {"calls": ["pay never"]}, [call("list")], [call("pay")], "tool.forbidden", Exit.CRITICAL),
    Case(
        "forbidden where",
        {"calls": ["pay never where amount > 5"]},
        [call("pay", {"amount": 5})],
        [call("pay", {"amount": 6})],
        "tool.forbidden",
        Exit.CRITICAL,
    ),
    Case("ceiling", {"calls": ["pay at most once"]}, [call("pay")], [call("pay")] * 2, "tool.max_calls_per_tool"),
    Case("floor", {"calls": ["pay at least 2 times"]}, [call("pay")] * 2, [call("pay")], "tool.min_calls_per_tool"),
    Case("all calls", {"calls": ["at most 2 calls"]}, [call("a")] * 2, [call("a")] * 3, "tool.max_calls"),
    Case(
        "one of two",
        {"calls": ["exactly 1 of pay, refuse"]},
        [call("pay")],
        [call("pay"), call("refuse")],
        "tool.max_calls_per_tool",
    ),
    Case(
        "biconditional, obliged",
        {"calls": ["pay required when out.paid is not empty"]},
        [call("pay"), final({"paid": [1]})],
        [call("list"), final({"paid": [1]})],
        "tool.required_when",
    ),
    Case(
        "biconditional, forbidden",
        {"calls": ["pay required when out.paid is not empty"]},
        [call("list"), final({"paid": []})],
        [call("pay"), final({"paid": []})],
        "tool.forbidden_when",
    ),
    Case(
        "a condition that cannot be read is not false",
        {"calls": ["pay required when out.paid is not empty"]},
        [call("list"), final({"paid": []})],
        [call("list"), final({})],
        "tool.condition_unresolved",
    ),
    Case(
        "count tied to outcome",
        {"calls": ["pay as many as out.paid"]},
        [call("pay"), final({"paid": [1]})],
        [call("pay"), final({"paid": [1, 2]})],
        "tool.calls_outcome_mismatch",
    ),
    Case(
        "count tied to a number",
        {"calls": ["pay as many as out.paid"]},
        [call("pay"), final({"paid": 1})],
        [call("pay"), final({"paid": "one"})],
        "tool.calls_outcome_unresolved",
    ),
    Case("order", {"order": ["a then b"]}, [call("a"), call("x"), call("b")], [call("b"), call("a")], "tool.order"),
    Case("precedence", {"order": ["a before b"]}, [call("a"), call("b")], [call("b"), call("a")], "tool.precedence"),
    Case("precedence missing", {"order": ["a before b"]}, [call("a")], [call("b")], "tool.precedence_missing"),
    Case(
        "every a before b",
        {"order": ["every a before b"]},
        [call("a"), call("a"), call("b")],
        [call("a"), call("b"), call("a")],
        "tool.precedence",
    ),
    Case(
        "per record",
        {"order": ["a before b per id"]},
        [call("a", {"id": 1}), call("b", {"id": 1}), call("b", {"id": 2})],
        [call("a", {"id": 2}), call("b", {"id": 1}), call("a", {"id": 1})],
        "tool.precedence",
    ),
    Case(
        "per record, demanded",
        {"order": ["a before every b per id"]},
        [call("a", {"id": 1}), call("b", {"id": 1})],
        [call("a", {"id": 1}), call("b", {"id": 2})],
        "tool.precedence_missing",
    ),
    Case(
        "argument literal",
        {"args": ["pay where amount equals 5"]},
        [call("pay", {"amount": 5}), call("pay", {"amount": "5"})],
        [call("pay", {"amount": 6})],
        "tool.arguments_subset",
    ),
    Case(
        "argument absent",
        {"args": ["pay where amount equals 5"]},
        [call("pay", {"amount": 5})],
        [call("pay", {})],
        "tool.arguments_subset",
    ),
    Case(
        "argument from a result",
        {"args": ["pay where amount equals list.items[id = $id].amount"]},
        [call("list", {}, LIST), call("pay", {"id": "B", "amount": 500})],
        [call("list", {}, LIST), call("pay", {"id": "B", "amount": 10})],
        "tool.arguments_subset",
    ),
    Case(
        "no result seen",
        {"args": ["pay where amount equals list.items[id = $id].amount"]},
        [call("list", {}, LIST), call("pay", {"id": "B", "amount": 500})],
        [call("pay", {"id": "B", "amount": 500}), call("list", {}, LIST)],
        "tool.arguments_reference_unresolved",
    ),
    Case(
        "a result that forbids it",
        {"args": ["pay where id equals list.items[id = $id and amount < policy.limit].id"]},
        [call("list", {}, LIST), call("policy", {}, POLICY), call("pay", {"id": "A"})],
        [call("list", {}, LIST), call("policy", {}, POLICY), call("pay", {"id": "B"})],
        "tool.arguments_reference_rejected",
    ),
    Case(
        "schema with format",
        {"args": [{"tool": "pay", "schema": {"properties": {"to": {"type": "string", "format": "email"}}}}]},
        [call("pay", {"to": "a@b.example"})],
        [call("pay", {"to": "nobody"})],
        "tool.arguments_schema",
    ),
    Case(
        "distinct",
        {"args": ["pay distinct id"]},
        [call("pay", {"id": {"a": 1, "b": 2}}), call("pay", {"id": {"a": 2}})],
        [call("pay", {"id": {"a": 1, "b": 2}}), call("pay", {"id": {"b": 2, "a": 1}})],
        "tool.arguments_not_distinct",
    ),
    Case(
        "distinct absent",
        {"args": ["pay distinct id"]},
        [call("pay", {"id": 1})],
        [call("pay")],
        "tool.arguments_distinct_missing",
    ),
    Case(
        "nth call",
        {"args": ["call 2 of pay where amount equals 2"]},
        [call("pay", {"amount": 1}), call("pay", {"amount": 2})],
        [call("pay", {"amount": 2})],
        "tool.arguments_call_missing",
    ),
    Case(
        "nth answer",
        {"args": ["pay where to equals list[1].to"]},
        [call("list", {}, {"to": "a"}), call("list", {}, {"to": "b"}), call("pay", {"to": "b"})],
        [call("list", {}, {"to": "a"}), call("list", {}, {"to": "b"}), call("pay", {"to": "a"})],
        "tool.arguments_subset",
    ),
    Case(
        "latest answer",
        {"args": ["pay where to equals latest(list.to)"]},
        [call("list", {}, {"to": "a"}), call("list", {}, {"to": "b"}), call("pay", {"to": "b"})],
        [call("list", {}, {"to": "a"}), call("list", {}, {"to": "b"}), call("pay", {"to": "a"})],
        "tool.arguments_subset",
    ),
    Case(
        "successor",
        {"args": ["pay where to equals after(list.ring, [one, two, three])"]},
        [call("list", {}, {"ring": "one"}), call("pay", {"to": "two"})],
        [call("list", {}, {"ring": "one"}), call("pay", {"to": "three"})],
        "tool.arguments_subset",
    ),
    Case(
        "total over calls",
        {"outcome": {"where": ["out.total equals sum(pay.args.amount)"]}},
        [call("pay", {"amount": 0.1}), call("pay", {"amount": 0.2}), final({"total": 0.3})],
        [call("pay", {"amount": 1}), final({"total": 2})],
        "outcome.output_subset",
        tools=("pay",),
    ),
    Case(
        "same set",
        {"outcome": {"where": ["out.ids[].id same set as pay.args.id"]}},
        [call("pay", {"id": 1}), call("pay", {"id": 2}), final({"ids": [{"id": 2}, {"id": 1}]})],
        [call("pay", {"id": 1}), final({"ids": [{"id": 2}]})],
        "outcome.output_subset",
        tools=("pay",),
    ),
    Case(
        "confirmation",
        {"confirm": ["pay needs adapter approved"]},
        [yes("pay"), yes("pay"), call("pay"), call("pay")],
        [yes("pay"), call("pay"), call("pay")],
        "safety.confirmation_required",
        Exit.CRITICAL,
    ),
    Case(
        "confirmation bound",
        {"confirm": ["pay needs confirmation with same arguments"]},
        [yes("pay", {"id": 1}), call("pay", {"id": 1})],
        [yes("pay", {"id": 1}), call("pay", {"id": 2})],
        "safety.confirmation_required",
        Exit.CRITICAL,
    ),
    Case(
        "confirmation taken back",
        {"confirm": ["pay needs confirmation"]},
        [no("pay"), yes("pay"), call("pay")],
        [yes("pay"), no("pay"), call("pay")],
        "safety.confirmation_required",
        Exit.CRITICAL,
    ),
    Case(
        "confirmation by asking",
        {"confirm": ["pay needs ask approved with same arguments"]},
        [call("ask", {"id": 1}, {"approved": True}), call("pay", {"id": 1})],
        [call("ask", {"id": 1}, {"approved": False}), call("pay", {"id": 1})],
        "safety.confirmation_required",
        Exit.CRITICAL,
    ),
    Case("status", {"outcome": {"status": "completed"}}, [final()], [final(status="failed")], "outcome.status"),
    Case(
        "outcome schema",
        {"outcome": {"schema": {"type": "object", "required": ["a"]}}},
        [final({"a": 1})],
        [final({})],
        "outcome.output_schema",
    ),
    Case(
        "outcome conditional",
        {"outcome": {"when": "out.paid is not empty", "match": {"state": "paid"}}},
        [
            final({"paid": [], "state": "open"}),
        ],
        [final({"paid": [1], "state": "open"})],
        "outcome.output_subset",
    ),
    Case(
        "outcome missing",
        {"outcome": {"where": ["out.a equals 1"]}},
        [final({"a": 1})],
        [call("list")],
        "outcome.unavailable",
    ),
    Case(
        "for each",
        {"each": [{"for": "list.items as x", "expect": ["exactly 1 of pay, refuse where id equals x.id"]}]},
        [call("list", {}, LIST), call("pay", {"id": "A"}), call("refuse", {"id": "B"})],
        [call("list", {}, LIST), call("pay", {"id": "A"}), call("refuse", {"id": "A"})],
        "tool.max_calls_per_tool",
    ),
    Case(
        "for each, one forgotten",
        {"each": [{"for": "list.items as x", "expect": ["pay where id equals x.id when x.amount < policy.limit"]}]},
        [call("list", {}, LIST), call("policy", {}, POLICY), call("pay", {"id": "A"})],
        [call("list", {}, LIST), call("policy", {}, POLICY), call("pay", {"id": "B"})],
        "tool.required_when",
    ),
    Case(
        "for each without a collection",
        {"each": [{"for": "list.items as x", "expect": ["pay where id equals x.id"]}]},
        [call("list", {}, {"items": []})],
        [call("policy")],
        "each.unresolved",
    ),
    Case(
        "strict",
        {"strict": True, "args": ["pay where a equals 1"]},
        [call("pay", {"a": 1})],
        [call("list")],
        "contract.not_exercised",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_the_guilty_run_is_found_and_the_innocent_one_is_not(
    case: Case, contract: Callable[..., Contract], play: Callable[..., Evidence]
) -> None:
    built = contract(case.tools, **case.expect)
    assert evaluate(built, play(case.good)) == ()
    findings = evaluate(built, play(case.bad))
    assert case.finding in {finding.id for finding in findings}
    assert exit_code(findings) == case.exit


def test_what_was_exercised_is_counted(contract: Callable[..., Contract], play: Callable[..., Evidence]) -> None:
    built = contract(args=["pay where a equals 1", "refund where a equals 1"], calls=["pay never"])
    judgement = judge(built, play([call("pay", {"a": 1}), call("pay", {"a": 1})]))
    assert [(each.id, each.times) for each in judgement.exercised] == [("calls[0]", 2), ("args[0]", 2), ("args[1]", 0)]
