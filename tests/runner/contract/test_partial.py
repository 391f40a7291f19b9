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
