"""Assertions judge what this run did; none holds over nothing (H91-H98)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.e2e.scenario import Scenario, chat, python
from tests.e2e.upstream import Upstream, reply

type New = Callable[..., Scenario]

BOTH = "How is Nairobi, both weather and time?"


def call(name: str, **arguments: Any) -> Any:
    return {"id": f"c-{name}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def says(text: str | None, *calls: Any) -> Any:
    message = {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return reply({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


HOLD = [
    "assert_tool_call: get_weather",
    "assert_tool_call: get_weather where city equals Nairobi",
    "assert_tool_call: get_weather where city is Nairobi and city exists and country is absent",
    "assert_tool_call: get_weather where city matches ^Nai",
    "assert_tool_call: get_weather where city not equals Lagos",
    'assert_tool_call: get_time where city in ["Nairobi", "Lagos"]',
    "assert_no_tool_call: get_weather where city equals Lagos",
    "assert_tool_request: get_time",
    "assert_no_tool_request: get_weather where city equals Lagos",
    "assert: reply contains noon in Nairobi",
    "assert: reply matches Told: .* noon",
    {"assert_tool_call": {"tool": "get_weather", "args": {"city": "Nairobi"}}},
    {"assert_tool_call": {"tool": "get_weather", "args_exact": {"city": "Nairobi"}, "times": 1}},
]
FAIL = [
    "assert_tool_call: get_rain",
    "assert_tool_call: get_weather where city equals Lagos",
    "assert_tool_call: get_weather where country exists",
    "assert_tool_call: get_weather where city matches ^Lag",
    "assert_no_tool_call: get_weather",
    "assert_no_tool_call: get_weather where city contains robi",
    "assert_tool_request: get_rain",
    "assert_no_tool_request: get_time",
    "assert: reply contains midnight",
    "assert: reply equals Told",
    "assert: reply matches ^noon",
    {"assert_tool_call": {"tool": "get_weather", "args_exact": {"city": "Nairobi", "country": "KE"}}},
    {"assert_tool_call": {"tool": "get_weather", "times": 2}},
]


def test_each_assertion_holds_for_the_innocent_and_fails_for_the_guilty(once: New, scenario: New) -> None:
    """One recording, a flow per assertion: verdict and exit code of each."""
    flow = once(scenario(python("openai_chat.py"), ["assert: reply contains Told"], BOTH))
    cases = [(f"hold-{i}", step, 0) for i, step in enumerate(HOLD)] + [(f"fail-{i}", s, 1) for i, s in enumerate(FAIL)]
    for name, step, _ in cases:
        key, _, text = step.partition(":") if isinstance(step, str) else ("", "", "")
        flow.copy(name, steps=[{"prompt": BOTH}, {key: text.strip()} if isinstance(step, str) else step])
    flow.spec.unlink()
    replayed = flow.cli("run", ".", "-j", "auto")
    assert replayed.report is not None
    assert replayed.code == 1
    assert {f.name: f.exit_code for f in replayed.report.flows} == {name: code for name, _, code in cases}, (
        replayed.said
    )


def test_an_agent_that_calls_nothing_calls_nothing_right(once: New, planned: New) -> None:
    """H91: an assertion about arguments is not met by the absence of calls."""
    flow = once(planned([chat()]))
    flow.change(steps=[{"prompt": "x"}, {"assert_tool_call": "get_weather where city not equals Lagos"}])
    replayed = flow.run()
    assert (replayed.code, replayed.flow.verdict) == (1, "fail"), replayed.said


def test_a_forbidden_tool_that_was_never_offered_proves_nothing(planned: New) -> None:
    """H91: vacuous, and reported as such."""
    flow = planned([chat()], ["assert: reply contains Told", "assert_no_tool_call: transfer_fundz"])
    recorded = flow.record()
    assert recorded.code == 2 or "transfer_fundz" in recorded.told, recorded.said


def test_order_is_a_subsequence_unless_strict(scenario: New, upstream: Upstream) -> None:
    """H92: other calls may lie between; `strict` wants each one claimed."""
    upstream.handler = _weather_then_time
    in_order = ["assert_tool_call: get_weather", "assert_tool_call: get_time"]
    flow = scenario(python("openai_chat.py"), in_order)
    assert flow.record().code == 0
    first, second = ({"assert_tool_call": name} for name in ("get_weather", "get_time"))
    prompt = {"prompt": "How is Nairobi?"}
    flow.copy("reversed", steps=[prompt, second, first])
    flow.copy("subsequence", steps=[prompt, second])
    flow.copy("strict", strict=True)
    flow.copy("strict-unclaimed", strict=True, steps=[prompt, second])
    replayed = flow.cli("run", ".")
    assert replayed.report is not None
    verdicts = {f.name: f.exit_code for f in replayed.report.flows}
    assert verdicts == {"e2e": 0, "reversed": 1, "subsequence": 0, "strict": 0, "strict-unclaimed": 1}, replayed.said


def _weather_then_time(seen: Any) -> Any:
    told = sum(m["role"] == "tool" for m in seen.json["messages"])
    return (
        says(None, call("get_weather", city="Nairobi")),
        says(None, call("get_time", city="Nairobi")),
        says("Told"),
    )[told]


@pytest.mark.parametrize(("failed", "code"), [(False, 0), (True, 1)])
def test_what_a_tool_returned_can_be_asserted(failed: bool, code: int, scenario: New) -> None:
    """H93: an agent that claims success although its tool failed."""
    results = [{"name": "get_weather", "result": {"ok": not failed}}]
    flow = scenario(
        python("openai_chat.py"),
        [{"assert_tool_call": {"tool": "get_weather", "result": {"ok": True}}}],
        tools=results,
    )
    assert flow.record().code == code


def test_a_request_that_ends_with_the_users_words_is_no_riddle(once: New, planned: New) -> None:
    """H95: environment details after the tool result; the whole body is what matches."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call("get_weather", city="Nairobi")]}
    told = {"role": "tool", "tool_call_id": "c-get_weather", "content": "31 degrees"}
    details = {"role": "user", "content": "<environment_details>cwd: /tmp</environment_details>"}
    flow = once(planned([chat(messages=[{"role": "user", "content": "How?"}, asked, told, details])]))
    assert flow.run().code == 0


def test_an_exit_code_that_was_not_expected_fails(once: New, scenario: New) -> None:
    """H97, surprise 5: everything matched, then the agent crashed."""
    flow = once(scenario(python("exits.py"), ["assert: reply contains Told"]))
    flow.change(agent={"env": {"AGENT_EXIT": "3"}})
    replayed = flow.run()
    assert (replayed.code, replayed.flow.verdict) == (1, "fail"), replayed.said
    assert "3" in replayed.findings[0].message
    flow.change(agent={"expect_exit": 3})
    assert flow.run().code == 0


def test_usage_is_there_to_be_read(scenario: New) -> None:
    """H98, surprise 11: the agent adds one to `usage.total_tokens` and prints the model."""
    flow = scenario(python("exits.py"))
    recorded, replayed = flow.record(), flow.run()
    assert (replayed.code, replayed.printed) == (0, recorded.printed)
    assert "brain-1" in replayed.printed


def test_a_guard_can_be_asserted(scenario: New, upstream: Upstream) -> None:
    """Surprise 10: the model asked, the code refused; both are said in one spec."""
    upstream.handler = lambda seen: says("Told") if b'"role":"tool"' in seen.body.replace(b" ", b"") else says(
        None, call("export", file="all"))  # fmt: skip
    steps = ["assert_tool_request: export", "assert: reply contains Told"]
    flow = scenario(python("guard.py"), steps)
    assert flow.record().code == 0
    flow.change(steps=[{"prompt": "x"}, {"assert_no_tool_request": "export"}])
    assert flow.run().code == 1


def test_a_step_that_is_none_of_an_agents_is_refused(planned: New) -> None:
    """Surprise 3: what cannot be run is never dropped in silence."""
    flow = planned([chat()])
    flow.change(steps=[{"prompt": "x"}, {"assert_sql": "select 1"}, "click the button", {"assert": "reply contains x"}])
    checked = flow.cli("check", str(flow.spec))
    assert checked.code == 2
    assert "assert_sql" in checked.said
    assert flow.run().code == 2


def test_contains_and_equals_are_two_things(once: New, planned: New) -> None:
    """Surprise 26: `equals` is equality; `is`, kept for compatibility, contains."""
    flow = once(planned([chat()], ["assert: reply is Told"]))
    flow.change(steps=[{"prompt": "x"}, {"assert": "reply equals Told"}])
    assert flow.run().code == 1


def test_a_variable_in_an_assertion_is_resolved(planned: New) -> None:
    """Surprise 26: `${VAR}` works wherever a text stands, and an unset one is named."""
    flow = planned([chat()], ["assert: reply contains ${EXPECTED}"])
    assert flow.record(EXPECTED="Told").code == 0
    assert flow.run(EXPECTED="Told").code == 0
    assert flow.run(EXPECTED="Nothing of it").code == 1
    unset = flow.run()
    assert unset.code == 2
    assert "EXPECTED" in unset.said


def test_edited_results_need_a_new_recording(scenario: New) -> None:
    """Surprise 9: the spec's results and the cassette's are the same ones, or it is an error."""
    flow = scenario(python("openai_chat.py"), tools=[{"name": "get_weather", "result": {"degrees": 31}}])
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    assert "31" in recorded.printed
    assert flow.run().code == 0
    flow.edit("31", "13")
    replayed = flow.run()
    assert replayed.code == 2, replayed.said
    assert "record" in replayed.told


def test_a_tool_called_more_often_than_it_has_results_fails(scenario: New, upstream: Upstream) -> None:
    upstream.handler = _weather_then_time
    flow = scenario(python("openai_chat.py"), tools=[{"name": "get_time", "results": []}])
    assert flow.record().code == 2
    upstream.handler = lambda seen: (
        says("Told")
        if sum(m["role"] == "tool" for m in seen.json["messages"]) == 2
        else says(None, call("get_weather", city="Nairobi"))
    )
    flow = scenario(python("openai_chat.py"), tools=[{"name": "get_weather", "results": [{"degrees": 31}]}])
    recorded = flow.record()
    assert recorded.code == 1, recorded.said
    assert "get_weather" in recorded.told
