"""What a finding tells: where, what was there, what would have done and where that was seen, what stood in its way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flowproof_runner.evidence.model import Evidence, Returned
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.findings import Candidate, Nearest

type Steps = list[tuple[object, ...]]
type Play = Callable[[Steps], Evidence]
type Build = Callable[..., Contract]

LIST: tuple[object, ...] = ("call", "list", {}, {"items": [{"id": "A", "n": 10}, {"id": "B", "n": 500}]})
POLICY: tuple[object, ...] = ("call", "policy", {}, {"limit": 100})


def test_a_wrong_value_is_told_with_what_would_have_done_and_where_it_was_seen(contract: Build, play: Play) -> None:
    built = contract(("list",), args=["pay where n equals list.items[id = $id].n"])
    [found] = evaluate(built, play([LIST, ("call", "pay", {"id": "B", "n": 10}, None)]))
    assert (found.id, found.path, found.expected, found.actual, found.seq) == ("tool.arguments_subset", "n", 500, 10, 3)
    assert found.detail == ("$n equals result(list).items[item.id equals $id].n: 10\n  would do: 500 [evidence 2]")
    assert found.candidates == (Candidate(500, 2),)


def test_candidates_are_told_with_where_each_was_seen_and_not_without_end(contract: Build, play: Play) -> None:
    answers: Steps = [("call", "list", {}, {"n": n}) for n in range(30)]
    [found] = evaluate(
        contract(("list",), args=["pay where n equals list.n"]), play([*answers, ("call", "pay", {"n": 99}, None)])
    )
    assert found.candidates[:2] == (Candidate(0, 2), Candidate(1, 5))
    assert len(found.candidates) == 20
    assert "and 25 more" in found.detail


def test_a_call_its_answers_forbid_is_told_with_the_nearest_miss(contract: Build, play: Play) -> None:
    built = contract(("list", "policy"), args=["pay where id equals list.items[id = $id and n < policy.limit].id"])
    [found] = evaluate(built, play([LIST, POLICY, ("call", "pay", {"id": "B"}, None)]))
    assert found.id == "tool.arguments_reference_rejected"
    assert found.nearest == Nearest({"id": "B", "n": 500}, ("item.n < result(policy).limit",), 2)
    assert found.detail == ('nearest: {"id": "B", "n": 500} [evidence 2]\n  fails: item.n < result(policy).limit')


def test_what_must_be_distinct_is_never_printed(contract: Build, play: Play) -> None:
    built = contract(args=["pay distinct token"])
    twice = ("call", "pay", {"token": "s3cret"}, None)
    [found] = evaluate(built, play([twice, twice]))
    assert "s3cret" not in repr(found)
    assert "evidence 0" in found.message


def test_an_element_is_named_that_was_forgotten(contract: Build, play: Play) -> None:
    built = contract(("list",), each=[{"for": "list.items as i", "expect": ["pay where id equals i.id"]}])
    [found] = evaluate(built, play([LIST, ("call", "pay", {"id": "A"}, None)]))
    assert found.detail == 'for i = {"id": "B", "n": 500}'


def test_what_joins_two_calls_is_compared_as_a_value(contract: Build, play: Play) -> None:
    built = contract(order=["look before every pay per key"])
    look, pay = ("call", "look", {"key": {"a": 1, "b": 2}}, None), ("call", "pay", {"key": {"b": 2, "a": 1}}, None)
    assert evaluate(built, play([look, pay])) == ()
    assert [found.id for found in evaluate(built, play([pay, look]))] == ["tool.precedence"]


def test_a_missing_fixture_is_told_also_of_a_broken_run(contract: Build, play: Play) -> None:
    run = play([("call", "look", {}, {"error": "x"})])
    missed = tuple(replace(e, fixture_miss=True, is_error=True) if isinstance(e, Returned) else e for e in run.events)
    found = evaluate(contract(calls=["pay"]), replace(run, events=missed, complete=False))
    assert [(each.id, each.seq) for each in found] == [("fixture.unmatched_call", 2)]
