"""A crashed run keeps every finding its beginning can prove, and none that the rest might have undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from flowproof_runner.evidence.model import Diverged, Evidence
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.model import Contract

type Steps = list[tuple[object, ...]]


def call(tool: str, arguments: object = None, result: object = None) -> tuple[object, ...]:
    return ("call", tool, arguments, result)


LIST = call("list", {}, {"items": [{"id": 1}, {"id": 2}]})


@pytest.mark.parametrize(
    ("sections", "steps", "finding"),
    [
        ({"calls": ["a never"]}, [call("a")], "tool.forbidden"),
        ({"calls": ["at most once a"]}, [call("a"), call("a")], "tool.max_calls_per_tool"),
        ({"calls": ["at most 1 calls"]}, [call("a"), call("a")], "tool.max_calls"),
        ({"order": ["a before b"]}, [call("b")], "tool.precedence_missing"),
        ({"order": ["first a before b"]}, [call("b"), call("a")], "tool.precedence"),
        ({"args": ["a where x equals 1"]}, [call("a", {"x": 2})], "tool.arguments_subset"),
        ({"args": ["a where x equals list.x"]}, [call("a", {"x": 2})], "tool.arguments_reference_unresolved"),
        ({"args": ["a distinct x"]}, [call("a", {"x": 2}), call("a", {"x": 2})], "tool.arguments_not_distinct"),
        ({"confirm": ["a needs confirmation"]}, [call("a")], "safety.confirmation_required"),
        (
            {"each": [{"for": "list.items as i", "expect": ["at most 1 a where id equals i.id"]}]},
            [LIST, call("a", {"id": 1}), call("a", {"id": 1})],
            "tool.max_calls_per_tool",
        ),
    ],
)
def test_what_the_beginning_proves_is_kept(
    sections: dict[str, object],
    steps: Steps,
    finding: str,
    contract: Callable[..., Contract],
    play: Callable[[Steps], Evidence],
) -> None:
    crashed = replace(play(steps), complete=False)
    assert [found.id for found in evaluate(contract(("list",), **sections), crashed)] == [finding]


@pytest.mark.parametrize(
    "sections",
    [
        {"calls": ["b at least once"]},
        {"calls": ["b as many as out.x"]},
        {"calls": ["b required when out.x is not empty"]},
        {"calls": ["a required when out.x is not empty"]},
        {"order": ["a then b"]},
        {"args": ["call 2 of a where x equals 1"]},
        {"holds": ["count(a.args.x) equals 2"]},
        {"each": [{"for": "list.items as i", "expect": ["b where id equals i.id"]}]},
        {"each": [{"for": "list.nothing as i", "expect": ["b where id equals i.id"]}]},
        {"outcome": {"status": "completed", "where": ["out.x equals 1"], "schema": {"type": "object"}}},
        {"budget": {"tokens": 10, "duration": "1s"}},
        {"strict": True, "args": ["b where x equals 1"]},
    ],
)
def test_what_might_still_have_come_is_not_held_against_a_crashed_run(
    sections: dict[str, object], contract: Callable[..., Contract], play: Callable[[Steps], Evidence]
) -> None:
    built = contract(("list", "a"), **sections)
    whole = play([LIST, call("a", {"x": 1})])
    assert evaluate(built, replace(whole, complete=False)) == ()
    assert evaluate(built, whole) != ()


ONE, TWO = (call("list", {}, {"n": n}) for n in (1, 2))


@pytest.mark.parametrize(
    ("lines", "beginning", "rest"),
    [
        (["a never when count(list.args.x) < 1"], [call("a")], [call("list", {"x": 1}, {})]),
        (["a never when not (json(2) in list.n)"], [ONE, call("a")], [TWO]),
        (["a at most 0 times when latest(list.n) equals 1"], [ONE, call("a")], [TWO]),
        (["a at most 0 times when json(1) equals every(list.n)"], [ONE, call("a")], [TWO]),
        (["a never when list.n equals 1"], [ONE, call("a")], [TWO]),
        (
            [{"for": "latest(list.items) as i", "expect": ["a never where id equals i.id"]}],
            [LIST, call("a", {"id": 1})],
            [call("list", {}, {"items": []})],
        ),
        (
            [{"for": "list.items[id < every(b.n)] as i", "expect": ["a never where id equals i.id"]}],
            [LIST, call("b", {}, {"n": 2}), call("a", {"id": 1})],
            [call("b", {}, {"n": 1})],
        ),
    ],
)
def test_what_the_rest_would_take_back_is_not_said_of_a_beginning(
    lines: list[object],
    beginning: Steps,
    rest: Steps,
    contract: Callable[..., Contract],
    play: Callable[[Steps], Evidence],
) -> None:
    section = "calls" if isinstance(lines[0], str) else "each"
    built = contract(("list", "b"), **{section: lines})
    assert evaluate(built, play(beginning)) != ()
    assert evaluate(built, replace(play(beginning), complete=False)) == ()
    assert evaluate(built, play([*beginning, *rest])) == ()


def test_a_share_of_late_answers_is_counted_at_the_end(
    contract: Callable[..., Contract], play: Callable[[Steps], Evidence]
) -> None:
    built = contract(mcp="web answers 60% within 1s")
    late: Steps = [("serve", "web", "get", 9000.0)]
    assert evaluate(built, play(late)) != ()
    assert evaluate(built, replace(play(late), complete=False)) == ()


@pytest.mark.parametrize(
    "when",
    [
        "list.n exists",
        "json(1) in list.n",
        "list[0].n equals 1",
        "first(list.n) equals 1 or out.x equals 3",
        "json(1) equals list[args.id = 7].n",
        "json(1) <= count(list.tags)",
        "json(1) in distinct(all(list.n))",
        "not (list[0].n equals 2)",
        "json(1) in args(list).id",
    ],
)
def test_what_nothing_can_take_back_is_said_of_a_beginning(
    when: str, contract: Callable[..., Contract], play: Callable[[Steps], Evidence]
) -> None:
    built = contract(("list",), calls=[f"a never when {when}"])
    answers = [call("list", {"id": 1}, {"n": 1, "tags": ["x"]}), call("list", {"id": 7}, {"n": 1})]
    expected = () if "out" in when else ("tool.forbidden",)
    found = evaluate(built, replace(play([*answers, call("a")]), complete=False))
    assert tuple(each.id for each in found) == expected


def test_what_a_divergence_explains_is_said_to_follow_from_it(
    contract: Callable[..., Contract], play: Callable[[Steps], Evidence]
) -> None:
    run = play([call("a", {"x": 2})])
    diverged = replace(run, events=(*run.events, Diverged(seq=9, lane="model", report={})))
    found = evaluate(contract(calls=["b at least once"], args=["a where x equals 1"]), diverged)
    assert [(each.id, each.caused_by) for each in found] == [
        ("tool.required", "model.divergence"),
        ("tool.arguments_subset", None),
    ]


def test_what_a_broken_report_explains_is_said_to_follow_from_it(
    contract: Callable[..., Contract], play: Callable[[Steps], Evidence]
) -> None:
    sections = {
        "calls": ["a as many as out.list", "b at least once"],
        "outcome": {"schema": {"type": "object", "required": ["list"]}},
    }
    found = evaluate(contract(**sections), play([("final", {})]))
    assert {each.id: each.caused_by for each in found} == {
        "tool.calls_outcome_unresolved": "outcome.output_schema",
        "tool.required": None,
        "outcome.output_schema": None,
    }
