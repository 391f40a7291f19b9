"""Matching: what counts as the recorded request, what does not, and what a miss says (H01-H34)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.e2e.scenario import Outcome, Scenario, chat, messages, python
from tests.e2e.upstream import Seen, Upstream, reply

type New = Callable[..., Scenario]

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tell the weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
LONG = "All work and no play. " * 200


def tool(**changes: Any) -> list[Any]:
    return [{"type": "function", "function": {**TOOL["function"], **changes}}]  # type: ignore[dict-item]  # a literal


BASE = chat(tools=[TOOL], tool_choice="auto", max_tokens=50, user="u-1", parallel_tool_calls=True)
CHANGED: dict[str, dict[str, Any]] = {
    "system": {"messages": [{"role": "system", "content": "You chat."}, BASE["body"]["messages"][1]]},
    "user word": {"messages": [BASE["body"]["messages"][0], {"role": "user", "content": "How is Lagos?"}]},
    "content as parts": {
        "messages": [
            BASE["body"]["messages"][0],
            {"role": "user", "content": [{"type": "text", "text": "How is Lagos?"}]},
        ]
    },
    "extra message": {"messages": [*BASE["body"]["messages"], {"role": "user", "content": "Well?"}]},
    "model": {"model": "brain-2"},
    "temperature": {"temperature": 0.3},
    "tool added": {"tools": [TOOL, {**TOOL, "function": {"name": "more"}}]},
    "tools removed": {"tools": None, "tool_choice": None},
    "tool description": {"tools": tool(description="Tell the weather on a planet.")},
    "tool schema": {"tools": tool(parameters={"type": "object", "properties": {"city": {"type": "number"}}})},
    "tool_choice": {"tool_choice": "required"},
    "response_format": {"response_format": {"type": "json_object"}},
    "max_tokens": {"max_tokens": 51},
    "parallel_tool_calls": {"parallel_tool_calls": False},
    "user field": {"user": "u-2"},
    "reasoning_effort": {"reasoning_effort": "low"},
    "a null that was absent": {"stop": "NULL"},
}


def test_every_change_of_the_request_is_a_divergence(once: New, planned: New, upstream: Upstream) -> None:
    """H01, H02, H04, H34 and the drift matrix of prior art: nothing in a body is too small to count."""
    flow = once(planned([BASE], ["assert_tool_call: get_weather"]))
    upstream.stop()
    for name, changes in CHANGED.items():
        drifted = flow.copy(
            name.replace(" ", "-"), agent={"command": python("plan.py", f"{name.replace(' ', '-')}.json")}
        )
        body = json.loads(json.dumps({**BASE["body"], **changes}).replace('"NULL"', "null"))
        drifted.plan([{**BASE, "body": {k: v for k, v in body.items() if v is not None or k == "stop"}}])

    replayed = flow.cli("run", ".")
    assert replayed.report is not None
    assert replayed.code == 1
    told = {result.name: [finding.id for finding in result.findings][:1] for result in replayed.report.flows}
    assert told == {"e2e": [], **{name.replace(" ", "-"): ["model.divergence"] for name in CHANGED}}


def test_a_changed_system_prompt_is_named_with_both_values(planned: New, upstream: Upstream) -> None:
    """H01, H30: the miss names the path and shows both values."""
    replayed = _drift(planned, chat(), chat(messages=[{"role": "system", "content": "You chat."}]))
    assert "messages[0].content" in replayed.told
    assert "You are terse." in replayed.told
    assert "You chat." in replayed.told


def test_a_difference_late_in_a_long_text_is_shown_where_it_is(planned: New) -> None:
    """H30, surprise 24: the excerpt is taken around the difference, not from the start."""
    replayed = _drift(planned, chat(f"{LONG} Fly to Nairobi."), chat(f"{LONG} Fly to Lagos."))
    assert "Nairobi" in replayed.told
    assert "Lagos" in replayed.told
    assert LONG not in replayed.told


def test_a_miss_is_compared_with_the_nearest_recording_not_the_first(once: New, planned: New) -> None:
    """H04, surprise 24: of two conversations the one that drifted is shown."""
    other = chat(messages=[{"role": "system", "content": "You make titles."}, {"role": "user", "content": "Title?"}])
    flow = once(planned([other, chat("How is Nairobi?")]))
    flow.plan([other, chat("How is Lagos?")])
    replayed = flow.run()
    assert replayed.code == 1
    assert replayed.ids[0] == "model.divergence"
    assert "Nairobi" in replayed.told
    assert "Title?" not in replayed.told


def test_number_literals_count(planned: New) -> None:
    """As written: 1 is not 1.0, and a big integer keeps its last digit."""
    pairs = {"zeros": ("0.2", "0.20"), "point": ("1", "1.0"), "big": ("9" * 17 + "3", "9" * 17 + "2")}

    def request(number: str) -> Any:
        text = f'{{"model":"m","messages":[],"temperature":{number}}}'
        return {"path": "/v1/chat/completions", "text": text}

    flow = planned([request(recorded) for recorded, _ in pairs.values()])
    assert flow.record().code == 0
    for name, (_, replayed) in pairs.items():
        flow.copy(name, agent={"command": python("plan.py", f"{name}.json")}).plan([request(replayed)])
    outcome = flow.cli("run", ".")
    assert outcome.report is not None
    first = {result.name: result.findings[0] for result in outcome.report.flows if result.findings}
    assert first.keys() == pairs.keys()
    for name, (_, replayed) in pairs.items():
        assert first[name].id == "model.divergence"
        assert replayed in first[name].message + first[name].detail


def test_an_agent_that_swallows_the_error_fails_all_the_same(planned: New) -> None:
    """H07: the verdict is the boundary's; the agent printed an apology and exited 0."""
    replayed = _drift(planned, chat("How is Nairobi?"), chat("How is Lagos?"))
    assert replayed.flow.agent is not None
    assert (replayed.code, replayed.flow.agent.exit_code) == (1, 0)


def test_a_pin_lets_a_living_prompt_drift_and_says_so(once: New, planned: New) -> None:
    """H07: an ignored path is reported with its count, never hidden."""
    pin = {"at": "messages[0].content", "why": "the system prompt is tested elsewhere"}
    flow = once(planned([chat()], pins=[pin]))
    flow.plan([chat(messages=[{"role": "system", "content": "You chat."}, chat()["body"]["messages"][1]])])
    replayed = flow.run()
    assert (replayed.code, [(p.count, p.why) for p in replayed.flow.pins]) == (0, [(1, pin["why"])]), replayed.said

    flow.plan([chat("How is Lagos?")])
    assert flow.run().ids[0] == "model.divergence"


def test_the_same_drift_in_many_flows_is_told_once(once: New, planned: New) -> None:
    """H09: one item, not one page per flow."""
    flow = once(planned([chat()]))
    for i in range(6):
        drifted = flow.copy(f"flow-{i}", agent={"command": python("plan.py", f"flow-{i}.json")})
        drifted.plan([chat(messages=[{"role": "system", "content": "You chat."}, chat()["body"]["messages"][1]])])
    replayed = flow.cli("run", ".")
    assert replayed.report is not None
    assert [r.verdict for r in replayed.report.flows].count("fail") == 6
    (cause,) = replayed.report.causes
    assert (cause.id, len(cause.specs)) == ("model.divergence", 6)
    assert replayed.stdout.count("sent:") == 1
    assert "One cause in 6 flows: turn 1: system prompt changed" in replayed.stdout


def test_a_miss_is_never_answered_with_another_recording(planned: New) -> None:
    """H10: no first-in-first-out guess."""
    replayed = _drift(planned, chat("How is Nairobi?"), chat("How is Lagos?"))
    (answer,) = _answers(replayed)
    assert answer["status"] == 400
    assert "Told" not in answer["text"]


def test_a_tool_loop_with_one_user_message_is_three_turns(scenario: New, upstream: Upstream) -> None:
    """H11: the whole conversation is the key, not the user's last message."""
    calls = iter(("get_weather", "get_time", None))
    upstream.handler = lambda seen: _next_call(seen, next(calls))
    flow = scenario(python("openai_chat.py"))
    assert flow.record().flow.counts.turns == 3
    replayed = flow.run()
    assert (replayed.code, replayed.flow.counts.turns) == (0, 3), replayed.said


def _next_call(seen: Seen, tool: str | None) -> Any:
    call = {"id": f"c-{tool}", "type": "function", "function": {"name": tool, "arguments": '{"city":"Nairobi"}'}}
    message = {"role": "assistant", "content": None if tool else "Told.", **({"tool_calls": [call]} if tool else {})}
    choice = {"index": 0, "finish_reason": "tool_calls" if tool else "stop", "message": message}
    return reply({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


def test_three_calls_about_the_same_message_are_told_apart(planned: New) -> None:
    """H12: chat, title and suggestions differ in model, system prompt and tools only."""
    system = [{"role": "system", "content": "You make titles."}, chat()["body"]["messages"][1]]
    requests = [chat(), chat(model="brain-mini", messages=system), chat(tools=tool(name="search"))]
    flow = planned([requests])
    recorded = flow.record()
    replayed = flow.run()
    assert (recorded.code, replayed.code) == (0, 0), replayed.said
    assert _answers(replayed) == _answers(recorded)
    assert len({answer["text"] for answer in _answers(replayed)}) == 3


def test_two_replays_of_one_cassette_at_a_time_do_not_mix(once: New, planned: New) -> None:
    """H15: state is a session's, not the server's."""
    flow = once(planned([chat("one"), chat("two"), chat("three")]))
    before = flow.cassette.read_bytes()
    started = [flow.start("run", str(flow.spec), FLOWPROOF_RUNS_DIR=f"runs-{i}") for i in range(2)]
    for i in range(4):
        flow.copy(f"copy-{i}")
    together = flow.cli("run", ".", "-j", "4")
    assert [one.finish().code for one in started] == [0, 0]
    assert together.code == 0, together.said
    assert flow.cassette.read_bytes() == before


def test_concurrent_conversations_get_their_own_answers(planned: New) -> None:
    """H17: eight at once that differ in one word, recorded and replayed."""
    requests = [chat(f"city {i}", seed=i) for i in range(8)]
    flow = planned([requests])
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), replayed.said
    assert _answers(replayed) == _answers(recorded)


def test_an_added_cache_control_is_named(planned: New) -> None:
    """H19: an SDK update that marks a block is one fast miss that says so."""
    block = {"type": "text", "text": "How is Nairobi?"}
    marked = {**block, "cache_control": {"type": "ephemeral"}}
    replayed = _drift(planned, messages([block]), messages([marked]))
    assert "cache_control" in replayed.told
    assert "messages[0].content[0]" in replayed.told
    (answer,) = _answers(replayed)
    assert answer["status"] == 406


def test_text_may_vary_where_a_pin_says_so_and_nowhere_else(once: New, planned: New) -> None:
    """H20: a variable number inside a prompt, ignored by a rule; the rest of the text still counts."""
    pin = {"at": "messages[1].content", "match": r"reminders: (\d+)", "why": "their number varies"}
    flow = once(planned([chat("reminders: 3. How is Nairobi?")], pins=[pin]))
    flow.plan([chat("reminders: 12. How is Nairobi?")])
    replayed = flow.run()
    assert (replayed.code, replayed.flow.pins[0].count) == (0, 1), replayed.said
    flow.plan([chat("reminders: 12. How is Lagos?")])
    assert flow.run().ids[0] == "model.divergence"


def test_two_dates_are_called_two_dates(planned: New) -> None:
    """H24: the miss says what kind of values they are, and what to do."""
    replayed = _drift(planned, chat("It is 2026-01-05T10:00:00Z."), chat("It is 2026-03-09T11:30:00Z."))
    assert "two timestamps" in replayed.told
    assert "pin" in replayed.told


def test_a_random_multipart_boundary_does_not_count_and_a_file_does(scenario: New, upstream: Upstream) -> None:
    """H26: parts are compared, the boundary is not."""
    flow = scenario(python("openai_audio.py"), ["assert: reply contains Told"])
    assert flow.record().code == 0, flow.record().said
    assert "boundary" in (upstream.seen[0].header("content-type") or "")
    upstream.stop()
    assert flow.run().code == 0
    flow.change(agent={"env": {"AGENT_SOUND": "another sound"}})
    replayed = flow.run()
    assert (replayed.code, replayed.ids[0]) == (1, "model.divergence"), replayed.said


def test_the_key_is_not_compared_but_a_recorded_refusal_is_replayed(planned: New, upstream: Upstream) -> None:
    """H28: credentials are no part of a request; a 401 that was recorded comes back as one."""
    upstream.handler = lambda seen: reply({"error": {"message": "bad key", "type": "auth"}}, 401)
    flow = planned([{**chat(), "headers": {"authorization": "Bearer key-a"}}], ["assert_no_tool_call: anything"])
    recorded = flow.record()
    flow.plan([{**chat(), "headers": {"authorization": "Bearer key-b"}}])
    replayed = flow.run()
    assert [a["status"] for a in (*_answers(recorded), *_answers(replayed))] == [401, 401]
    assert _answers(recorded) == _answers(replayed)


def test_turns_that_were_recorded_and_never_asked_for_fail(once: New, planned: New) -> None:
    """H31: an agent that stops early is not the recorded one."""
    flow = once(planned([chat("one"), chat("two"), chat("three")]))
    flow.plan([chat("one")])
    replayed = flow.run()
    assert (replayed.code, replayed.ids) == (1, ["model.unserved"]), replayed.said
    assert "2" in replayed.findings[0].message


def test_a_second_use_of_a_recording_says_already_served(once: New, planned: New) -> None:
    """H31's mirror, and the same request four times of prior art."""
    flow = once(planned([chat()]))
    flow.plan([chat(), chat()])
    replayed = flow.run()
    assert (replayed.code, replayed.ids[0]) == (1, "model.divergence"), replayed.said
    assert "answered already by recorded turn 1" in replayed.told


SAME = [
    ('{"model":"é","messages":[]}', '{"model":"\\u00e9","messages":[]}'),
    ('{"model":"a/b","messages":[]}', '{"model":"a\\/b","messages":[]}'),
    ('{"model":"m","messages":[]}', '{ "messages" : [ ] ,\n "model" : "m" }'),
    ('{"model":"n","messages":[],"stream":false}', '{"model":"n","messages":[]}'),
]


def test_the_same_value_written_differently_is_no_drift(planned: New) -> None:
    """H33: escapes, key order, white space and transport raise no false alarm, and replies come back to the byte."""
    flow = planned([{"path": "/v1/chat/completions", "text": recorded} for recorded, _ in SAME])
    first = flow.record()
    flow.plan([{"path": "/v1/chat/completions", "text": replayed} for _, replayed in SAME])
    second = flow.run()
    assert (first.code, second.code) == (0, 0), second.said
    assert _answers(second) == _answers(first)


def _drift(planned: New, before: Any, after: Any) -> Outcome:
    flow = planned([before])
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    flow.plan([after])
    replayed = flow.run()
    assert (replayed.code, replayed.flow.verdict, replayed.ids[0]) == (1, "fail", "model.divergence"), replayed.said
    return replayed


def _answers(outcome: Outcome) -> list[Any]:
    return [json.loads(line) for line in outcome.printed.splitlines()]
