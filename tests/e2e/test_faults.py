"""`faults:` — what the agent meets, in both phases, and what the flow makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.e2e.scenario import Outcome, Scenario, chat, messages, python

from flowproof_addons.trace import file

type New = Callable[..., Scenario]

WEATHER = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]


def turns() -> list[dict[str, Any]]:
    """One request for each fault of FAULTS."""
    return [
        chat("1"),
        messages("2"),
        chat("3"),
        chat("4"),
        {**chat("5"), "patience_s": 0.5},
        chat("6", stream=True),
        chat("7"),
        chat("8", tools=WEATHER, stream=True),
        chat("9", tools=WEATHER),
        chat("10", stream=True),
        {**chat("11", stream=True), "patience_s": 0.5},
        chat("12"),
    ]


FAULTS: list[dict[str, Any]] = [
    {"turn": 1, "answer": 429, "times": 2, "retry_after": 0.5},
    {"turn": 2, "answer": 529},
    {"turn": 2, "answer": 500},
    {"turn": 3, "connection": "reset"},
    {"turn": 4, "connection": "closed"},
    {"turn": 5, "timeout": "20s"},
    {"turn": 6, "cut": 2},
    {"turn": 7, "cut": "half"},
    {"turn": 8, "malformed": True},
    {"turn": 9, "malformed": True},
    {"turn": 10, "slow": "200ms"},
    {"turn": 11, "slow": "2s"},
]
MET: list[list[str]] = [
    ["429 0.5", "429 0.5", "answered"],
    ["529", "500", "answered"],
    ["reset", "answered"],
    ["closed", "answered"],
    ["timeout", "answered"],
    ["cut 2", "answered"],
    ["cut", "answered"],
    ["malformed", "answered"],
    ["malformed", "answered"],
    ["answered slowly"],
    ["timeout", "answered"],
    ["answered"],
]


def met(outcome: Outcome) -> list[list[str]]:
    return [json.loads(line) for line in outcome.printed.splitlines()]


@pytest.fixture
def stubborn(scenario: New) -> New:
    """A flow whose agent sends requests until each is answered."""

    def make(requests: list[dict[str, Any]], tries: int = 5, **parts: Any) -> Scenario:
        flow = scenario(python("stubborn.py", "flow.json", str(tries)), **parts)
        flow.plan(requests)
        return flow

    return make


def test_an_agent_that_tries_again_meets_every_fault_and_passes(stubborn: New) -> None:
    """On top of a cassette recorded without faults, and of one recorded under them."""
    plain = stubborn(turns())
    assert plain.record().code == 0
    plain.change(faults=FAULTS)
    on_top = plain.run()
    assert (on_top.code, met(on_top)) == (0, MET), on_top.said
    assert [(use.name, use.count) for use in on_top.flow.faults][:3] == [
        ("turn 1: answer 429", 2),
        ("turn 2: answer 529", 1),
        ("turn 2: answer 500", 1),
    ]
    assert all(use.count == use.times and use.where for use in on_top.flow.faults)
    assert "turn 5: no answer for 20 s: once (the agent gave up after" in on_top.stdout
    under = plain.record()
    assert (under.code, met(under)) == (0, MET), under.said
    kept = file.load(plain.cassette)
    assert (len(kept.turns), len(kept.faulted)) == (len(turns()), 12)
    again = plain.run()
    assert (again.code, met(again)) == (0, MET), again.said


def test_an_agent_that_never_tries_again_fails_by_its_own_exit_and_the_fault_is_named(stubborn: New) -> None:
    flow = stubborn([chat("1"), chat("2"), chat("3")], tries=1)
    assert flow.record().code == 0
    flow.change(faults=[{"turn": 2, "answer": 429}])
    failed = flow.run()
    assert (failed.code, failed.ids) == (1, ["agent.exit", "model.unserved"]), failed.said
    assert "this run was under faults: turn 2: answer 429" in failed.findings[0].detail
    assert met(failed) == [["answered"], ["429"], ["answered"]]


def test_a_fault_that_never_happens_fails_the_flow_in_both_phases(stubborn: New) -> None:
    faults = [{"turn": 3, "answer": 500}, {"turn": 2, "malformed": True}]
    flow = stubborn([chat("1"), chat("2")], faults=faults)
    recorded = flow.record()
    assert (recorded.code, not flow.cassette.exists()) == (1, True), recorded.said
    flow.change(faults=[])
    assert flow.record().code == 0
    flow.change(faults=faults)
    failed = flow.run()
    for outcome in (recorded, failed):
        said = [(f.message, f.where.rpartition(":")[2] != "") for f in outcome.findings if f.id == "fault.unfired"]
        assert said == [
            ("the fault 'turn 3: answer 500' never happened", True),
            ("the fault 'turn 2: malformed tool arguments' never happened", True),
        ]
        assert "calls no tool" in outcome.told


def test_a_cassette_recorded_under_faults_is_refused_once_they_are_others(stubborn: New) -> None:
    flow = stubborn([chat("1")], faults=[{"turn": 1, "answer": 429}])
    assert flow.record().code == 0
    flow.change(faults=[{"turn": 1, "answer": 500}])
    refused = flow.run()
    assert (refused.code, refused.ids) == (2, ["flow.error"])
    assert "recorded under other faults" in refused.told and "record again" in refused.told
