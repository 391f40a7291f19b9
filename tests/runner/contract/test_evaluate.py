"""Each kind of expectation, with a run that keeps it and one that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.contract.evaluate import evaluate, judge
from flowproof_runner.expectations.contract.language.canonical import SECTIONS, explain, structured
from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import Contract, Each, Lane
from flowproof_runner.findings import Exit, exit_code

POLICY = {"limit": 100, "approver": "boss"}
GET = {"name": "get", "description": "Gets."}
LIST = {"items": [{"id": "A", "amount": 10}, {"id": "B", "amount": 500}]}


@dataclass(frozen=True)
class Case:
    id: str
    expect: dict[str, object]
    good: Sequence[tuple[object, ...]]
    bad: Sequence[tuple[object, ...]]
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
        "a ban by an answer nobody has had is not kept",
        {"calls": ["pay never where amount > policy.limit"]},
        [call("policy", None, {"limit": 9}), call("pay", {"amount": 5})],
        [call("pay", {"amount": 5}), call("policy", None, {"limit": 9})],
        "tool.condition_unresolved",
    ),
    Case(
        "a ceiling by an answer nobody has had is not kept",
        {"calls": ["pay at most once where amount > policy.limit and kind equals gift"]},
        [call("pay", {"amount": 5, "kind": "loan"})],
        [call("pay", {"amount": 5, "kind": "gift"})],
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
    Case("exactly", {"calls": ["exactly 2 of pay"]}, [call("pay")] * 2, [call("pay")], "tool.min_calls_per_tool"),
    Case(
        "between",
        {"calls": ["at least 1 and at most 2 of pay, refund"]},
        [call("pay"), call("refund")],
        [call("pay"), call("refund"), call("pay")],
        "tool.max_calls_per_tool",
    ),
    Case(
        "asked for too often",
        {"calls": ["pay requested at most once"]},
        [call("pay")],
        [call("pay"), ("deny", "pay")],
        "tool.max_calls_per_tool",
        Exit.CRITICAL,
    ),
    Case(
        "such calls",
        {"calls": ["pay at most once where amount >= 100"]},
        [call("pay", {"amount": 100}), call("pay", {"amount": 99})],
        [call("pay", {"amount": 100}), call("pay", {"amount": 101})],
        "tool.max_calls_per_tool",
    ),
    Case(
        "a ceiling under a condition on an answer",
        {"calls": ["pay at most once when policy.strict equals true"]},
        [call("policy", {}, {"strict": False}), call("pay"), call("pay")],
        [call("policy", {}, {"strict": True}), call("pay"), call("pay")],
        "tool.max_calls_per_tool",
    ),
    Case(
        "count tied to an answer",
        {"calls": ["pay as many as list.items"]},
        [call("list", {}, LIST), call("pay"), call("pay")],
        [call("list", {}, LIST), call("pay")],
        "tool.calls_outcome_mismatch",
    ),
    Case(
        "first a before b",
        {"order": ["first a before b"]},
        [call("a"), call("b")],
        [call("b")],
        "tool.precedence_missing",
    ),
    Case(
        "first a before b, read again afterwards",
        {"order": ["first a before b"]},
        [call("a"), call("b"), call("a")],
        [call("b"), call("a")],
        "tool.precedence",
    ),
    Case(
        "per two arguments",
        {"order": ["a before every b per id, shop"]},
        [call("a", {"id": 1, "shop": "x"}), call("b", {"id": 1, "shop": "x"})],
        [call("a", {"id": 1, "shop": "x"}), call("b", {"id": 1, "shop": "y"})],
        "tool.precedence_missing",
    ),
    Case(
        "argument subset",
        {"args": [{"tool": "pay", "match": {"to": {"name": "Ann"}, "lines": [1, 2]}}]},
        [call("pay", {"to": {"name": "Ann", "age": 3}, "lines": [1, 2], "more": 1})],
        [call("pay", {"to": {"name": "Ann"}, "lines": [1, 2, 3]})],
        "tool.arguments_subset",
    ),
    Case(
        "argument from the outcome",
        {"args": ["pay where amount equals out.amount"]},
        [call("pay", {"amount": 5}), final({"amount": 5})],
        [call("pay", {"amount": 5}), final({"amount": 6})],
        "tool.arguments_subset",
    ),
    Case(
        "argument from another argument",
        {"args": ["pay where total equals $amount or total is absent"]},
        [call("pay", {"amount": 5, "total": 5}), call("pay", {"amount": 5})],
        [call("pay", {"amount": 5, "total": 6})],
        "tool.arguments_subset",
    ),
    Case(
        "arithmetic comparison with a result",
        {"args": ["pay where amount <= policy.limit and amount > 0"]},
        [call("policy", {}, POLICY), call("pay", {"amount": 100})],
        [call("policy", {}, POLICY), call("pay", {"amount": 100.5})],
        "tool.arguments_subset",
    ),
    Case(
        "result of a call with such arguments",
        {"args": ["pay where amount equals list[id = $id and result.ok = true].amount"]},
        [call("list", {"id": 1}, {"amount": 7, "ok": True}), call("pay", {"id": 1, "amount": 7})],
        [call("list", {"id": 1}, {"amount": 7, "ok": False}), call("pay", {"id": 1, "amount": 7})],
        "tool.arguments_reference_rejected",
    ),
    Case(
        "length of a list",
        {"args": ["pay where n equals count(list.items)"]},
        [call("list", {}, LIST), call("pay", {"n": 2})],
        [call("list", {}, LIST), call("pay", {"n": 3})],
        "tool.arguments_subset",
    ),
    Case(
        "predecessor",
        {"args": ["pay where to equals after(list.ring, [one, two, three], -1)"]},
        [call("list", {}, {"ring": "three"}), call("pay", {"to": "two"})],
        [call("list", {}, {"ring": "one"}), call("pay", {"to": "three"})],
        "tool.arguments_reference_rejected",
    ),
    Case(
        "every answer",
        {"args": ["pay where amount < every(list.limit)"]},
        [call("list", {}, {"limit": 5}), call("list", {}, {"limit": 9}), call("pay", {"amount": 4})],
        [call("list", {}, {"limit": 5}), call("list", {}, {"limit": 9}), call("pay", {"amount": 6})],
        "tool.arguments_subset",
    ),
    Case(
        "exactly one element",
        {"args": ["pay where amount equals one(list.items[].amount)"]},
        [call("list", {}, LIST), call("pay", {"amount": 10})],
        [call("list", {}, {"items": [{"amount": 10}, {"amount": 10}]}), call("pay", {"amount": 10})],
        "tool.arguments_subset",
    ),
    Case(
        "least and greatest",
        {
            "holds": [
                "min(list.items[].amount) >= 10 and max(list.items[].amount) <= 500 and count(list.items) equals 2"
            ]
        },
        [call("list", {}, LIST)],
        [call("list", {}, {"items": [{"amount": 9}, {"amount": 500}]})],
        "run.condition",
    ),
    Case(
        "total over all answers",
        {"holds": ["out.total equals sum(all(list.n))"]},
        [call("list", {}, {"n": 1}), call("list", {}, {"n": 2}), final({"total": 3})],
        [call("list", {}, {"n": 1}), call("list", {}, {"n": 2}), final({"total": 2})],
        "run.condition",
    ),
    Case(
        "no such elements are none",
        {"holds": ["count(list.items[amount > 100]) equals 0 and sum(list.items[amount > 100].amount) equals 0"]},
        [call("list", {}, {"items": [{"amount": 10}]})],
        [call("list", {}, LIST)],
        "run.condition",
    ),
    Case(
        "no list is not an empty one",
        {"holds": ["count(list.items[amount > 100]) equals 0"]},
        [call("list", {}, {"items": []})],
        [call("list", {}, {})],
        "run.unresolved",
    ),
    Case(
        "for each such element, of which there is none",
        {"each": [{"for": "list.items[amount > 100] as x", "expect": ["pay where id equals x.id"]}]},
        [call("list", {}, {"items": [{"id": 1, "amount": 1}]})],
        [call("list", {}, LIST)],
        "tool.required",
    ),
    Case(
        "average and distinct",
        {"holds": ["avg(list.items[].amount) equals 255 and count(distinct(list.items[].id)) equals 2"]},
        [call("list", {}, LIST)],
        [call("list", {}, {"items": [{"id": "A", "amount": 10}, {"id": "A", "amount": 500}]})],
        "run.condition",
    ),
    Case(
        "a condition on the run, under a condition",
        {"holds": ["out.n equals 1 when out.done equals true"]},
        [final({"n": 2, "done": False})],
        [final({"n": 2, "done": True})],
        "run.condition",
    ),
    Case(
        "for each of the outcome",
        {"each": [{"for": "out.paid as p", "expect": [{"tool": "pay", "where": "amount <= p.limit"}]}]},
        [call("pay", {"amount": 3}), final({"paid": [{"limit": 3}]})],
        [call("pay", {"amount": 3}), final({"paid": [{"limit": 2}]})],
        "tool.arguments_subset",
    ),
    Case(
        "for each of what was passed",
        {"each": [{"for": "args(pay).id as p", "expect": ["notify where id equals p"]}]},
        [call("pay", {"id": 1}), call("notify", {"id": 1})],
        [call("pay", {"id": 1}), call("pay", {"id": 2}), call("notify", {"id": 1})],
        "tool.required",
    ),
    Case(
        "for each inside for each",
        {
            "each": [
                {
                    "for": "list.items as x",
                    "expect": [{"for": "x.lines as l", "expect": ["pay where id equals x.id and line equals l"]}],
                }
            ]
        },
        [call("list", {}, {"items": [{"id": 1, "lines": [7]}]}), call("pay", {"id": 1, "line": 7})],
        [call("list", {}, {"items": [{"id": 1, "lines": [7, 8]}]}), call("pay", {"id": 1, "line": 7})],
        "tool.required",
    ),
    Case(
        "confirmation by what an answer says",
        {"confirm": ["pay needs ask with same arguments answering decision equals go"]},
        [call("ask", {"id": 1}, {"decision": "go"}), call("pay", {"id": 1})],
        [call("ask", {"id": 1}, {"decision": "stop"}), call("pay", {"id": 1})],
        "safety.confirmation_required",
        Exit.CRITICAL,
    ),
    Case(
        "outcome subset",
        {"outcome": {"match": {"state": "paid", "by": {"name": {"from": "list", "path": "owner"}}}}},
        [call("list", {}, {"owner": "Ann"}), final({"state": "paid", "by": {"name": "Ann"}, "more": 1})],
        [call("list", {}, {"owner": "Ann"}), final({"state": "paid", "by": {"name": "Bob"}})],
        "outcome.output_subset",
    ),
    Case(
        "outcome reference",
        {"outcome": ["out.n equals list.n"]},
        [call("list", {}, {"n": 1}), final({"n": 1})],
        [final({"n": 1})],
        "outcome.reference_unresolved",
    ),
    Case("budget of calls", {"budget": "at most 1 calls"}, [call("a")], [call("a")] * 2, "tool.max_calls"),
    Case("budget of turns", {"budget": "at most 2 turns"}, [("ask",)] * 2, [("ask",)] * 3, "budget.turns"),
    Case("budget of tokens", {"budget": "at most 1k tokens"}, [("ask", 1000)], [("ask", 600)] * 2, "budget.tokens"),
    Case(
        "tokens nobody counted", {"budget": "at most 1k tokens"}, [("ask", 1)], [("ask",)], "budget.tokens_unavailable"
    ),
    Case("budget of time", {"budget": "at most 5s"}, [("took", 5000.0)], [("took", 5001.0)], "performance.duration"),
    Case("time nobody took", {"budget": "at most 5s"}, [("took", 1.0)], [call("a")], "budget.duration_unavailable"),
    Case(
        "latency",
        {"mcp": "web answers within 100ms"},
        [("serve", "web", "get", 100.0), ("serve", "other", "get", 900.0)],
        [("serve", "web", "get", 101.0)],
        "mcp.tool_duration",
    ),
    Case(
        "a share of late answers",
        {"mcp": "every server answers 90% within 100ms"},
        [("serve", "web", "get", 1.0)] * 9 + [("serve", "web", "get", 900.0)],
        [("serve", "web", "get", 1.0)] * 8 + [("serve", "web", "get", 900.0)] * 2,
        "mcp.tool_duration",
    ),
    Case(
        "size",
        {"mcp": "web answers at most 1KiB"},
        [("serve", "web", "get", 1.0, 1024)],
        [("serve", "web", "get", 1.0, 1025)],
        "mcp.response_size",
    ),
    Case(
        "errors",
        {"mcp": "web never fails"},
        [("serve", "web", "get", 1.0)],
        [("serve", "web", "get", 1.0, 1, True)],
        "mcp.tool_error",
    ),
    Case(
        "catalogue",
        {"mcp": {"server": "web", "tools": [GET]}},
        [("offer", "web", [GET])],
        [("offer", "web", [{**GET, "description": "other"}])],
        "mcp.schema_drift",
    ),
    Case(
        "capabilities",
        {"mcp": {"server": "web", "capabilities": {"tools": {}}}},
        [("offer", "web", [], {"tools": {}})],
        [("offer", "web", [], {"tools": {"listChanged": True}})],
        "mcp.capability_drift",
    ),
    Case(
        "no catalogue",
        {"mcp": {"server": "web", "tools": []}},
        [("offer", "web", [])],
        [("serve", "web", "get", 1.0)],
        "mcp.discovery_missing",
    ),
    Case(
        "strict",
        {"strict": True, "args": ["pay where a equals 1"]},
        [call("pay", {"a": 1})],
        [call("list")],
        "contract.not_exercised",
    ),
]


def _as_written(built: Contract, case: Case, contract: Callable[..., Contract]) -> Contract:
    return built


def _structured(built: Contract, case: Case, contract: Callable[..., Contract]) -> Contract:
    return contract(**explain(built))


def _prose(built: Contract, case: Case, contract: Callable[..., Contract]) -> Contract:
    """Every expectation as its line, where a line can say it."""
    lines: dict[str, list[object]] = {}
    for each in built.expectations:
        spoken = not isinstance(each, Each | Lane) or (isinstance(each, Lane) and each.tools is each.capabilities)
        lines.setdefault(SECTIONS[type(each)], []).append(line(each) if spoken else structured(each))
    return contract(strict=built.strict, **lines)


@pytest.mark.parametrize("form", [_as_written, _structured, _prose])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_the_guilty_run_is_found_and_the_innocent_one_is_not(
    case: Case,
    form: Callable[..., Contract],
    contract: Callable[..., Contract],
    play: Callable[..., Evidence],
) -> None:
    built = form(contract(case.tools, **case.expect), case, contract)
    assert evaluate(built, play(case.good)) == ()
    findings = evaluate(built, play(case.bad))
    assert case.finding in {finding.id for finding in findings}
    assert exit_code(findings) == case.exit


def test_what_was_exercised_is_counted(contract: Callable[..., Contract], play: Callable[..., Evidence]) -> None:
    built = contract(args=["pay where a equals 1", "refund where a equals 1"], calls=["pay never"])
    judgement = judge(built, play([call("pay", {"a": 1}), call("pay", {"a": 1})]))
    assert [(each.id, each.times) for each in judgement.exercised] == [("calls[0]", 2), ("args[0]", 2), ("args[1]", 0)]


def test_what_is_remembered_of_one_collection_is_not_taken_for_another(
    contract: Callable[..., Contract], play: Callable[..., Evidence]
) -> None:
    tools = [f"t{number}" for number in range(12)]
    lines = [f"sum(all({tool}.n)) equals {n} and max(all({tool}.n)) equals {n}" for n, tool in enumerate(tools)]
    built = contract(tools, holds=lines * 3)
    assert evaluate(built, play([call(tool, {}, {"n": n}) for n, tool in enumerate(tools)])) == ()
