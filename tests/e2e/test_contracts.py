"""`expect:` over an unmodified agent at the model boundary: the innocent pass, the guilty are found, in both forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.e2e.scenario import Scenario, python
from tests.e2e.test_assertions import call, says
from tests.e2e.upstream import Upstream

type New = Callable[..., Scenario]

INNOCENT: dict[str, Any] = {
    "strict": True,
    "calls": [
        "get_weather at least once",
        "get_rain never",
        "exactly 1 of get_weather, get_rain",
        "at most 2 calls",
        "get_time required when out.told is not empty",
        "get_time as many as out.told",
    ],
    "order": ["get_weather before get_time", "get_weather before every get_time per city", "get_weather then get_time"],
    "args": [
        "get_time where city equals result(get_weather)[city = $city].city",
        "get_time distinct city",
        'get_weather by schema {"required": ["city"]}',
    ],
    "each": [{"for": "out.told as c", "expect": ["exactly 1 get_time where city equals c"]}],
    "holds": ["get_weather.args.city same set as out.told"],
    "confirm": ["get_time needs get_weather approved answering sky equals clear"],
    "outcome": ["status completed", "out.n equals count(get_time.args.city)", 'schema {"required": ["told"]}'],
    "budget": "at most 3 turns, 1m",
}
GUILTY: dict[str, Any] = {
    "calls": [
        "get_rain at least once",
        "get_time required when out.told is empty",
        "at most 1 calls",
        "get_weather as many as out.n where city equals Lagos",
    ],
    "args": [
        "get_time where city equals Lagos",
        "get_time where city equals result(get_weather)[city = Lagos].city",
        'get_weather by schema {"properties": {"city": {"format": "date"}}}',
    ],
    "each": [{"for": "out.told as c", "expect": ["get_rain where city equals c"]}],
    "holds": ["count(get_weather.args.city) > 1"],
    "confirm": ["get_time needs get_weather approved"],
    "outcome": ["status refused", "out.n equals 3"],
    "budget": "at most 1 turns, 1ms",
}
FOUND = {
    "tool.required",
    "tool.forbidden_when",
    "tool.max_calls",
    "tool.calls_outcome_mismatch",
    "tool.arguments_subset",
    "tool.arguments_reference_rejected",
    "tool.arguments_schema",
    "run.condition",
    "safety.confirmation_required",
    "outcome.status",
    "outcome.output_subset",
    "budget.turns",
    "performance.duration",
}
INNOCENT_STRUCTURED: dict[str, Any] = {
    "strict": True,
    "calls": [
        {"calls": ["get_rain"], "kind": "forbidden"},
        {"calls": ["get_time"], "only_when": True, "when": "out.told is not empty"},
        {"calls": ["get_time"], "as_many_as": "out.told"},
    ],
    "order": [{"before": "get_weather", "after": "get_time", "per": ["city"]}],
    "args": [{"tool": "get_time", "match": {"city": {"term": "result(get_weather)[city = $city].city"}}}],
    "confirm": [{"tool": "get_time", "by": "get_weather", "approves": "sky equals clear"}],
    "outcome": {"status": "completed", "match": {"n": 1, "told": ["Nairobi"]}},
    "budget": {"turns": 3},
}
GUILTY_STRUCTURED: dict[str, Any] = {
    "calls": [{"calls": ["get_weather"], "kind": "forbidden"}, {"at_most": 1}],
    "order": [{"before": "get_time", "after": "get_weather"}],
    "args": [{"tool": "get_time", "match": {"city": "Lagos"}}],
    "outcome": {"status": "refused", "match": {"n": 3}},
    "budget": {"turns": 1},
}


def looks_then_tells(seen: Any) -> Any:
    told = sum(message["role"] == "tool" for message in seen.json["messages"])
    replies = (
        says(None, call("get_weather", city="Nairobi")),
        says(None, call("get_time", city="Nairobi")),
        says('{"told": ["Nairobi"], "n": 1}'),
    )
    return replies[told]


def test_an_unmodified_agent_is_held_to_a_contract(scenario: New, upstream: Upstream) -> None:
    """One recording, four contracts over it; the evidence is the model's own conversation."""
    upstream.handler = looks_then_tells
    weather = {"name": "get_weather", "result": {"city": "Nairobi", "sky": "clear"}}
    agent = {"command": python("openai_chat.py"), "output": "reply json"}
    flow = scenario(agent, [], tools=[weather], expect=INNOCENT, name="innocent")
    flow.change(name="innocent")
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    flow.copy("innocent-structured", expect=INNOCENT_STRUCTURED)
    flow.copy("guilty", expect=GUILTY)
    flow.copy("guilty-structured", expect=GUILTY_STRUCTURED)
    replayed = flow.cli("run", ".")
    assert replayed.report is not None
    flows = {each.name: each for each in replayed.report.flows}
    assert {name: each.exit_code for name, each in flows.items()} == {
        "innocent": 0,
        "innocent-structured": 0,
        "guilty": 3,
        "guilty-structured": 3,
    }, replayed.said
    assert replayed.code == 3
    assert {found.id for found in flows["guilty"].findings} == FOUND
    assert {found.id for found in flows["guilty-structured"].findings} <= {*FOUND, "tool.forbidden", "tool.precedence"}
    assert len(flows["guilty-structured"].findings) == 7
