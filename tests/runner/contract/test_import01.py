"""Contract files of version 0.1: every construct imported, judged by runs that keep and break it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from flowproof_runner.contract.file import ContractFile, load
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.findings import exit_code
from flowproof_runner.reading.problems import SpecError

type Steps = list[tuple[object, ...]]
type Write = Callable[..., ContractFile]

ORDERS = {"orders": [{"id": "A", "sum": 5, "to": "ann"}, {"id": "B", "sum": 50, "to": "bob"}]}


def call(tool: str, arguments: object = None, result: object = None) -> tuple[object, ...]:
    return ("call", tool, arguments, result)


def failed(tool: str, result: object) -> tuple[object, ...]:
    return ("fail", tool, result)


def final(output: object = None, status: str = "completed") -> tuple[object, ...]:
    return ("final", output, status)


def said(tool: str, granted: bool, arguments: object = None) -> tuple[object, ...]:
    return ("confirm", tool, arguments, granted)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a contract file around an `expect:` and reads it."""

    def written(expect: object, **more: object) -> ContractFile:
        envelope = {
            "schemaVersion": "0.1",
            "id": "t",
            "input": {"message": "go"},
            "fixtures": {tool: {} for tool in ("a", "b", "c", "list", "pay", "look")},
            "expect": expect,
            **more,
        }
        path = tmp_path / "contract.yml"
        path.write_text(yaml.safe_dump(envelope, sort_keys=False))
        return load(path)

    return written


@dataclass(frozen=True)
class Case:
    id: str
    expect: dict[str, object]
    run: Steps
    findings: tuple[str, ...] = ()
    exit: int = 1


def tools(**members: object) -> dict[str, object]:
    return {"tools": members}


def match(tool: str, tree: object) -> dict[str, object]:
    return tools(arguments=[{"tool": tool, "match": tree}])


def from_result(**members: object) -> dict[str, object]:
    return {"$fromResult": members}


PAID = {"outcomePath": "paid", "nonEmpty": True}
SEEN = call("list", {}, ORDERS)

CASES = [
    Case("required", tools(required=["a"]), [call("b")], ("tool.required",)),
    Case("required, kept", tools(required=["a"]), [call("a")]),
    Case(
        "required when, obliged",
        tools(required=[{"tool": "a", "when": PAID}]),
        [final({"paid": [1]})],
        ("tool.required_when",),
    ),
    Case(
        "required when, forbidden",
        tools(required=[{"tool": "a", "when": PAID}]),
        [call("a"), final({"paid": []})],
        ("tool.forbidden_when",),
    ),
    Case(
        "required when, unreadable",
        tools(required=[{"tool": "a", "when": PAID}]),
        [call("a"), final({"paid": 3})],
        ("tool.condition_unresolved",),
    ),
    Case(
        "an unreadable branch makes the whole condition unreadable",
        tools(required=[{"tool": "a", "when": {"$anyOf": [PAID, {"outcomePath": "x", "equals": 1}]}}]),
        [call("a"), final({"paid": [1]})],
        ("tool.condition_unresolved",),
    ),
    Case("forbidden", tools(forbidden=["a"]), [call("a"), call("a")], ("tool.forbidden", "tool.forbidden"), 3),
    Case("order", tools(order=["a", "b"]), [call("b"), call("a")], ("tool.order",)),
    Case("order, kept with others between", tools(order=["a", "a", "b"]), [call("a"), call("c"), call("a"), call("b")]),
    Case("maxCalls", tools(maxCalls=1), [call("a"), call("b")], ("tool.max_calls",)),
    Case("minCalls", tools(budgets=[{"tool": "a", "minCalls": 2}]), [call("a")], ("tool.min_calls_per_tool",)),
    Case(
        "maxCalls per tool",
        tools(budgets=[{"tool": "a", "maxCalls": 1}]),
        [call("a"), call("a")],
        ("tool.max_calls_per_tool",),
    ),
    Case(
        "callsMatchOutcome",
        tools(budgets=[{"tool": "a", "callsMatchOutcome": "done"}]),
        [call("a"), final({"done": []})],
        ("tool.calls_outcome_mismatch",),
    ),
    Case(
        "callsMatchOutcome, no list",
        tools(budgets=[{"tool": "a", "callsMatchOutcome": "done"}]),
        [call("a"), final({"done": 1})],
        ("tool.calls_outcome_unresolved",),
    ),
    Case(
        "precedence all",
        tools(precedence=[{"before": "a", "after": "b"}]),
        [call("a"), call("b"), call("a")],
        ("tool.precedence",),
    ),
    Case(
        "precedence first",
        tools(precedence=[{"before": "a", "after": "b", "scope": "first"}]),
        [call("a"), call("b"), call("a")],
    ),
    Case(
        "precedence missing",
        tools(precedence=[{"before": "a", "after": "b"}]),
        [call("b")],
        ("tool.precedence_missing",),
    ),
    Case(
        "precedence correlated",
        tools(precedence=[{"before": "a", "after": "b", "correlate": ["id"]}]),
        [call("b", {"id": 2}), call("b", {"id": 1}), call("a", {"id": 1})],
        ("tool.precedence",),
    ),
    Case("match", match("pay", {"to": "ann"}), [call("pay", {"to": "bob"})], ("tool.arguments_subset",)),
    Case("match is strict about types", match("pay", {"n": 1}), [call("pay", {"n": "1"})], ("tool.arguments_subset",)),
    Case(
        "match, arrays have one length",
        match("pay", {"n": [1]}),
        [call("pay", {"n": [1, 2]})],
        ("tool.arguments_subset",),
    ),
    Case(
        "match, nested",
        match("pay", {"o": {"p": [1, {"q": 2}]}}),
        [call("pay", {"o": {"p": [1, {"q": 2, "r": 3}], "s": 4}})],
    ),
    Case(
        "callIndex",
        tools(arguments=[{"tool": "pay", "callIndex": 1, "match": {"n": 2}}]),
        [call("pay", {"n": 1}), call("pay", {"n": 2})],
    ),
    Case(
        "callIndex missing",
        tools(arguments=[{"tool": "pay", "callIndex": 1, "match": {"n": 2}}]),
        [call("pay", {"n": 2})],
        ("tool.arguments_call_missing",),
    ),
    Case(
        "schema",
        tools(arguments=[{"tool": "pay", "schema": {"type": "object", "required": ["n"]}}]),
        [call("pay")],
        ("tool.arguments_schema",),
    ),
    Case(
        "distinct",
        tools(arguments=[{"tool": "pay", "distinct": ["n"]}]),
        [call("pay", {"n": 1}), call("pay", {"n": 1}), call("pay")],
        ("tool.arguments_not_distinct", "tool.arguments_distinct_missing"),
    ),
    Case(
        "$fromResult",
        match("pay", {"to": from_result(tool="list", path="orders.1.to")}),
        [SEEN, call("pay", {"to": "bob"}), call("pay", {"to": "ann"})],
        ("tool.arguments_subset",),
    ),
    Case(
        "$fromResult never seen",
        match("pay", {"to": from_result(tool="list", path="orders.1.to")}),
        [call("pay", {"to": "bob"})],
        ("tool.arguments_reference_unresolved",),
    ),
    Case(
        "find and select",
        match("pay", {"to": from_result(tool="list", path="orders", find={"id": {"$argument": "id"}}, select="to")}),
        [SEEN, call("pay", {"id": "A", "to": "ann"}), call("pay", {"id": "B", "to": "ann"})],
        ("tool.arguments_subset",),
    ),
    Case(
        "find with a comparison to another result",
        match(
            "pay",
            {
                "id": from_result(
                    tool="list",
                    path="orders",
                    find={
                        "id": {"$argument": "id"},
                        "sum": {"$lessThan": from_result(tool="look", path="limit")},
                    },
                    select="id",
                )
            },
        ),
        [SEEN, call("look", {}, {"limit": 10}), call("pay", {"id": "A"}), call("pay", {"id": "B"})],
        ("tool.arguments_reference_rejected",),
    ),
    Case(
        "where and whereResult",
        match(
            "pay",
            {"n": from_result(tool="look", path="n", where={"k": {"$argument": "k"}}, whereResult={"ok": True})},
        ),
        [
            call("look", {"k": 1}, {"n": 1, "ok": True}),
            call("look", {"k": 2}, {"n": 2, "ok": False}),
            call("pay", {"k": 1, "n": 1}),
            call("pay", {"k": 2, "n": 2}),
        ],
        ("tool.arguments_reference_rejected",),
    ),
    Case(
        "criteria joined by $anyOf",
        match(
            "pay",
            {"id": from_result(tool="list", path="orders", find={"$anyOf": [{"sum": 5}, {"to": "zoe"}]}, select="id")},
        ),
        [SEEN, call("pay", {"id": "A"}), call("pay", {"id": "B"})],
        ("tool.arguments_subset",),
    ),
    Case(
        "length",
        match("pay", {"n": from_result(tool="list", path="orders", length=True)}),
        [SEEN, call("pay", {"n": 2}), call("pay", {"n": 1})],
        ("tool.arguments_subset",),
    ),
    Case(
        "sequence",
        match("pay", {"ring": from_result(tool="look", path="ring", sequence=[0, 1, 2])}),
        [call("look", {}, {"ring": 1}), call("pay", {"ring": 2}), call("pay", {"ring": 1})],
        ("tool.arguments_subset",),
    ),
    Case(
        "sequence with an offset out of range",
        match("pay", {"ring": from_result(tool="look", path="ring", sequence=[0, 1], offset=-2)}),
        [call("look", {}, {"ring": 1}), call("pay", {"ring": 0})],
        ("tool.arguments_reference_rejected",),
    ),
    Case(
        "result by callIndex",
        match("pay", {"to": from_result(tool="look", path="to", callIndex=1)}),
        [call("look", {}, {"to": 1}), call("look", {}, {"to": 2}), call("pay", {"to": 2}), call("pay", {"to": 1})],
        ("tool.arguments_subset",),
    ),
    Case(
        "$fromOutcome",
        match("pay", {"n": {"$fromOutcome": "n"}}),
        [call("pay", {"n": 1}), final({"n": 2})],
        ("tool.arguments_subset",),
    ),
    Case(
        "$argument",
        match("pay", {"n": {"$argument": "m"}}),
        [call("pay", {"n": 1, "m": 2})],
        ("tool.arguments_subset",),
    ),
    Case(
        "$anyOf, an unresolved branch does not count when another fits",
        match("pay", {"n": {"$anyOf": [1, from_result(tool="look", path="n")]}}),
        [call("pay", {"n": 1}), call("pay", {"n": 2})],
        ("tool.arguments_subset",),
    ),
    Case(
        "$anyOf of objects",
        match("pay", {"o": {"$anyOf": [{"a": 1}, {"b": {"$argument": "n"}}]}}),
        [call("pay", {"n": 2, "o": {"b": 2}}), call("pay", {"n": 2, "o": {"b": 3}})],
        ("tool.arguments_subset",),
    ),
    Case(
        "confirmations in a batch, one for each call",
        {"confirmation": {"requiredBefore": ["pay"]}},
        [said("pay", True), said("pay", True), call("pay"), call("pay"), call("pay")],
        ("safety.confirmation_required",),
        3,
    ),
    Case(
        "confirmation bound",
        {"confirmation": {"requiredBefore": ["pay"], "bindArguments": True}},
        [said("pay", True, {"n": 1, "m": 2}), call("pay", {"m": 2, "n": 1}), said("pay", True), call("pay", {"n": 1})],
        ("safety.confirmation_required",),
        3,
    ),
    Case("status", {"outcome": {"status": "completed"}}, [final(status="stopped")], ("outcome.status",)),
    Case(
        "outcome match",
        {"outcome": {"status": "completed", "match": {"n": from_result(tool="list", path="orders", length=True)}}},
        [SEEN, final({"n": 3})],
        ("outcome.output_subset",),
    ),
    Case(
        "outcome match unresolved",
        {"outcome": {"status": "completed", "match": {"n": from_result(tool="list", path="orders", length=True)}}},
        [final({"n": 3})],
        ("outcome.reference_unresolved",),
    ),
    Case(
        "outcome when",
        {"outcome": {"status": "completed", "when": [{"when": PAID, "match": {"open": False}}]}},
        [final({"paid": [1], "open": True})],
        ("outcome.output_subset",),
    ),
    Case(
        "outcome when not",
        {"outcome": {"status": "completed", "when": [{"when": PAID, "match": {"open": False}}]}},
        [final({"paid": [], "open": True})],
    ),
    Case(
        "outcome schema",
        {"outcome": {"status": "completed", "schema": {"required": ["a"]}}},
        [final({})],
        ("outcome.output_schema",),
    ),
    # What version 0.1 got wrong, put right (docs/contracts.md lists each).
    Case(
        "hole 3: $fromOutcome inside criteria has a value",
        match("pay", {"n": from_result(tool="look", path="n", whereResult={"k": {"$fromOutcome": "k"}})}),
        [call("look", {}, {"k": 7, "n": 1}), call("pay", {"n": 1}), final({"k": 7})],
    ),
    Case(
        "hole 4: a comparison outside criteria compares",
        match("pay", {"n": {"$atLeast": 1}}),
        [call("pay", {"n": 1}), call("pay", {"n": 0})],
        ("tool.arguments_subset",),
    ),
    Case(
        "hole 7: any of several matching elements will do",
        match("pay", {"to": from_result(tool="list", path="o", find={"k": 1}, select="to")}),
        [call("list", {}, {"o": [{"k": 1, "to": "x"}, {"k": 1, "to": "y"}]}), call("pay", {"to": "y"})],
    ),
    Case(
        "hole 8: an error is no result to refer to",
        match("pay", {"n": from_result(tool="look", path="n")}),
        [failed("look", {"n": 1}), call("pay", {"n": 1})],
        ("tool.arguments_reference_unresolved",),
    ),
    Case(
        "hole 9: the order of keys tells nothing apart",
        tools(arguments=[{"tool": "pay", "distinct": ["o"]}]),
        [call("pay", {"o": {"a": 1, "b": 2}}), call("pay", {"o": {"b": 2, "a": 1}})],
        ("tool.arguments_not_distinct",),
    ),
    Case(
        "hole 10: a refusal takes an approval back",
        {"confirmation": {"requiredBefore": ["pay"]}},
        [said("pay", True), said("pay", False), call("pay")],
        ("safety.confirmation_required",),
        3,
    ),
    Case(
        "hole 11: conditional tools do not count against maxCalls",
        tools(required=["a", {"tool": "b", "when": PAID}], maxCalls=1),
        [call("a"), final({"paid": []})],
    ),
    Case("hole 15: {} is an object", match("pay", {"o": {}}), [call("pay", {"o": []})], ("tool.arguments_subset",)),
    Case(
        "hole 15: length is a member",
        match("pay", {"o": {"length": 3}}),
        [call("pay", {"o": [1, 2, 3]})],
        ("tool.arguments_subset",),
    ),
    Case(
        "hole 21: formats are checked",
        tools(arguments=[{"tool": "pay", "schema": {"properties": {"at": {"format": "date"}}}}]),
        [call("pay", {"at": "tomorrow"})],
        ("tool.arguments_schema",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_contract_of_version_01_is_judged(case: Case, write: Write, play: Callable[[Steps], Evidence]) -> None:
    contract = write(case.expect).contract
    steps = case.run if any(step[0] == "final" for step in case.run) else [*case.run, final({})]
    found = evaluate(contract, play(steps))
    assert tuple(finding.id for finding in found) == case.findings
    assert exit_code(found) == (case.exit if case.findings else 0)


REFUSED: list[tuple[str, dict[str, object], str]] = [
    ("unknown key", {"tols": {}}, "unknown key"),
    (
        "no predicate (hole 2)",
        {"outcome": {"status": "x", "when": [{"when": {"outcomePath": "a"}, "match": {}}]}},
        "exactly one of equals and nonEmpty",
    ),
    (
        "nonEmpty false (hole 2)",
        {"outcome": {"status": "x", "when": [{"when": {"outcomePath": "a", "nonEmpty": False}, "match": {}}]}},
        "nonEmpty: false says nothing",
    ),
    ("one condition in $anyOf", tools(required=[{"tool": "a", "when": {"$anyOf": [PAID]}}]), "two conditions or more"),
    (
        "self comparison (hole 5)",
        {"outcome": {"status": "x", "match": {"n": {"$argument": "n"}}}},
        "compares a value with itself",
    ),
    (
        "the report with itself",
        {"outcome": {"status": "x", "match": {"n": {"$fromOutcome": "m"}}}},
        "compare the report with itself",
    ),
    ("required and forbidden", tools(required=["a"], forbidden=["a"]), "a is also forbidden"),
    (
        "twice conditional",
        tools(required=[{"tool": "a", "when": PAID}, {"tool": "a", "when": PAID}]),
        "join them with 'or'",
    ),
    ("plain and conditional", tools(required=["a", {"tool": "a", "when": PAID}]), "also demanded without condition"),
    ("maxCalls too low", tools(required=["a", "b"], maxCalls=1), "at least 2 calls are demanded"),
    ("maxCalls below order", tools(order=["a", "a"], maxCalls=1), "at least 2 calls are demanded"),
    ("forbidden in order", tools(order=["a", "b"], forbidden=["b"]), "b is also forbidden"),
    ("min above max", tools(budgets=[{"tool": "a", "minCalls": 2, "maxCalls": 1}]), "asks for more than it allows"),
    ("max 0 on required", tools(required=["a"], budgets=[{"tool": "a", "maxCalls": 0}]), "may be called 0 times"),
    ("order beyond budget", tools(order=["a", "a"], budgets=[{"tool": "a", "maxCalls": 1}]), "may be called 1 times"),
    (
        "floors beyond maxCalls",
        tools(budgets=[{"tool": "a", "minCalls": 2}, {"tool": "b", "minCalls": 2}], maxCalls=3),
        "at least 4 calls",
    ),
    ("before itself", tools(precedence=[{"before": "a", "after": "a"}]), "cannot come before itself"),
    ("stated twice", tools(precedence=[{"before": "a", "after": "b"}, {"before": "a", "after": "b"}]), "stated twice"),
    ("opposite", tools(precedence=[{"before": "a", "after": "b"}, {"before": "b", "after": "a"}]), "closes a circle"),
    (
        "circle of three (hole 12)",
        tools(precedence=[{"before": "a", "after": "b"}, {"before": "b", "after": "c"}, {"before": "c", "after": "a"}]),
        "closes a circle",
    ),
    (
        "order against precedence",
        tools(order=["b", "a"], precedence=[{"before": "a", "after": "b"}]),
        "contradicts the order",
    ),
    ("before is forbidden", tools(forbidden=["a"], precedence=[{"before": "a", "after": "b"}]), "a is forbidden"),
    (
        "correlate and scope",
        tools(precedence=[{"before": "a", "after": "b", "scope": "first", "correlate": ["x"]}]),
        "exclude each other",
    ),
    ("path twice", tools(precedence=[{"before": "a", "after": "b", "correlate": ["x", "x"]}]), "names a path twice"),
    (
        "callIndex beyond max",
        tools(budgets=[{"tool": "a", "maxCalls": 1}], arguments=[{"tool": "a", "callIndex": 1, "match": {"x": 1}}]),
        "called at most 1 times",
    ),
    (
        "callIndex on forbidden",
        tools(forbidden=["a"], arguments=[{"tool": "a", "callIndex": 0, "match": {"x": 1}}]),
        "called at most 0 times",
    ),
    ("distinct and callIndex", tools(arguments=[{"tool": "a", "callIndex": 0, "distinct": ["x"]}]), "one call alone"),
    (
        "distinct with one call",
        tools(budgets=[{"tool": "a", "maxCalls": 1}], arguments=[{"tool": "a", "distinct": ["x"]}]),
        "nothing to tell apart",
    ),
    ("distinct twice", tools(arguments=[{"tool": "a", "distinct": ["x", "x"]}]), "names a path twice"),
    ("unknown member", match("a", {"x": from_result(tool="b", path="y", pth=1)}), "$fromResult has no pth"),
    ("empty path", match("a", {"x": from_result(tool="b", path="")}), "path is text"),
    (
        "callIndex and where",
        match("a", {"x": from_result(tool="b", path="y", callIndex=0, where={"z": 1})}),
        "callIndex excludes",
    ),
    ("empty where", match("a", {"x": from_result(tool="b", path="y", where={})}), "at least one criterion"),
    ("select without find", match("a", {"x": from_result(tool="b", path="y", select="z")}), "select needs find"),
    (
        "length and sequence",
        match("a", {"x": from_result(tool="b", path="y", length=True, sequence=[1])}),
        "length excludes",
    ),
    ("offset without sequence", match("a", {"x": from_result(tool="b", path="y", offset=1)}), "offset needs sequence"),
    ("comparison with siblings", match("a", {"x": {"$atLeast": 1, "$atMost": 2}}), "stands alone"),
    ("bad bound", match("a", {"x": {"$atLeast": "1"}}), "a comparison needs a number"),
    ("malformed $anyOf", match("a", {"x": {"$anyOf": [1]}}), "two or more"),
    (
        "reference to a forbidden tool",
        {"tools": {"forbidden": ["b"], "arguments": [{"tool": "a", "match": {"x": from_result(tool="b", path="y")}}]}},
        "b is forbidden, so it never answers",
    ),
    (
        "nested reference to a forbidden tool (hole 13)",
        {
            "tools": {
                "forbidden": ["b"],
                "arguments": [
                    {
                        "tool": "a",
                        "match": {
                            "x": from_result(
                                tool="c", path="y", find={"z": {"$lessThan": from_result(tool="b", path="y")}}
                            )
                        },
                    }
                ],
            }
        },
        "b is forbidden, so it never answers",
    ),
    (
        "reference beyond the budget",
        {
            "tools": {
                "budgets": [{"tool": "b", "maxCalls": 1}],
                "arguments": [{"tool": "a", "match": {"x": from_result(tool="b", path="y", callIndex=1)}}],
            }
        },
        "answers at most 1 times",
    ),
    (
        "reference to what comes later",
        {
            "tools": {
                "precedence": [{"before": "a", "after": "b"}],
                "arguments": [{"tool": "a", "match": {"x": from_result(tool="b", path="y")}}],
            }
        },
        "b is only called after a",
    ),
    ("reference to its own answer", match("a", {"x": from_result(tool="a", path="y")}), "no earlier answer of its own"),
    ("bad schema", tools(arguments=[{"tool": "a", "schema": {"type": "nothing"}}]), "not a JSON Schema"),
    (
        "match against schema",
        tools(
            arguments=[
                {"tool": "a", "match": {"x": 1}},
                {"tool": "a", "schema": {"properties": {"x": {"type": "string"}}}},
            ]
        ),
        "the schema forbids",
    ),
    ("required without a fixture", tools(required=["nobody"]), "no fixture answers it"),
]


@pytest.mark.parametrize(("expect", "problem"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_contract_that_cannot_be_meant_is_refused_with_its_place(
    expect: dict[str, object], problem: str, write: Write
) -> None:
    with pytest.raises(SpecError) as raised:
        write(expect)
    assert problem in str(raised.value)
    assert "contract.yml:" in str(raised.value)


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"schemaVersion": 0.1}, "a number: put it in quotes"),
        ({"schemaVersion": "0.3"}, 'accepted: "0.1", "0.2"'),
        ({"id": "-x"}, "id"),
        ({"surprise": 1}, "unknown key"),
        ({"reads": ["a"]}, "unknown key"),
        ({"enforcement": {"preDispatch": True}}, "nothing to enforce"),
        ({"fixtures": {"a": {"$file": "missing.json"}}}, "missing.json cannot be read"),
        ({"fixtures": {"a": {"$file": "x", "b": 1}}}, "$file stands alone"),
        ({"fixtures": {"a": {"$cases": []}}}, "at least one case"),
        ({"fixtures": {"a": {"$cases": [{"result": 1}, {"callIndex": 0, "result": 2}]}}}, "is never reached"),
        (
            {
                "fixtures": {
                    "a": {
                        "$cases": [
                            {"arguments": {"x": 1, "y": 2}, "result": 1},
                            {"arguments": {"y": 2, "x": 1}, "result": 2},
                        ]
                    }
                }
            },
            "is never reached",
        ),
    ],
)
def test_an_envelope_is_strict(members: dict[str, object], problem: str, write: Write) -> None:
    with pytest.raises(SpecError) as raised:
        write({}, **members)
    assert problem in str(raised.value)


def test_a_precedence_kept_by_every_scope_is_accepted_beside_an_order(write: Write) -> None:
    file = write(tools(order=["a", "b"], precedence=[{"before": "a", "after": "b"}], maxCalls=5))
    assert len(file.contract.expectations) == 3


def test_a_value_with_a_member_called_cases_is_a_plain_fixture(write: Write) -> None:
    file = write({}, fixtures={"a": {"cases": [1]}})
    assert file.fixtures["a"][0].result == {"cases": [1]}


def test_json_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"schemaVersion":"0.1","id":"j","input":{"message":"m"},\n\t"expect":{"tools":{"maxCalls":1}}}')
    assert load(path).id == "j"
