"""What differs between runs, and what only looks as if."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.repeat import instability, shape
from flowproof_runner.evidence.model import Evidence

type Play = Callable[[list[tuple[object, ...]]], Evidence]


def ended(play: Play, *outputs: JsonValue) -> list[Evidence]:
    return [play([("final", output)]) for output in outputs]


def test_a_shape_is_every_path_with_its_types() -> None:
    assert shape({"a": [{"b": 1}, {"b": "x"}], "c": None}) == {
        "": {"object"},
        "a": {"array"},
        "a[]": {"object"},
        "a[].b": {"number", "string"},
        "c": {"null"},
    }


@pytest.mark.parametrize(
    ("outputs", "findings"),
    [
        ([{"a": 1}, {"a": 2}], []),
        ([{"a": 1}, {"b": 1}], ["repeat.shape:a", "repeat.shape:b"]),
        ([{"a": 1}, {"a": "1"}], ["repeat.type:a"]),
        ([{"a": 1}, {"a": None}], []),
        ([{"a": []}, {"a": [{"b": 1}]}], []),
        ([{"a": []}, {"a": [{"b": 1}]}, {"a": [{"c": 1}]}], ["repeat.shape:a[].b", "repeat.shape:a[].c"]),
        ([{"a": {"b": []}}, {"a": {"b": [[1]]}}], []),
        ([{"a": [1]}, {"a": {"b": 1}}], ["repeat.shape:a.b", "repeat.shape:a[]", "repeat.type:a"]),
        ([1, "x"], ["repeat.type:"]),
    ],
)
def test_only_what_was_seen_to_differ_is_a_finding(outputs: list[JsonValue], findings: list[str], play: Play) -> None:
    found = instability(ended(play, *outputs))
    assert sorted(f"{each.id}:{each.path}" for each in found) == findings


def test_the_sequence_of_tools_counts_but_not_of_broken_runs(play: Play) -> None:
    one: tuple[object, ...] = ("call", "a", {}, 1)
    two: tuple[object, ...] = ("call", "b", {}, 1)
    runs = [play([one, two, ("final", 1)]), play([two, one, ("final", 1)])]
    [found] = instability(runs)
    assert (found.id, found.detail) == ("repeat.tool_sequence", "a → b\nb → a")
    assert instability([runs[0], replace(runs[1], complete=False)]) == ()


def test_a_single_report_among_several_runs_measures_nothing(play: Play) -> None:
    [found] = instability([play([("final", 1)]), play([])])
    assert found.id == "repeat.not_measured"
