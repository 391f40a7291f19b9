"""Official SDKs and frameworks record once, replay offline to the last field, and fail on the first drift."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.e2e.scenario import Scenario, node, python
from tests.e2e.upstream import Upstream

BOTH = "How is Nairobi, both weather and time?"
CALLS = (
    "assert_tool_call: get_weather where city equals Nairobi",
    "assert_tool_call: get_time",
    "assert: reply contains noon",
)

MODES = [
    *(python("openai_chat.py", mode) for mode in ("sync", "async", "stream", "async-stream")),
    *(python("openai_responses.py", mode) for mode in ("sync", "async", "stream", "continued")),
    *(python("anthropic_messages.py", mode) for mode in ("sync", "async", "stream", "async-stream")),
    *(python("openai_agents_sdk.py", mode) for mode in ("responses", "chat", "stream")),
    *(
        python("pydantic_ai_agent.py", api, *s)
        for api in ("openai-chat", "openai-responses", "anthropic")
        for s in ([], ["stream"])
    ),
    *(python("langgraph_agent.py", api, *s) for api in ("openai", "responses", "anthropic") for s in ([], ["stream"])),
]
NODE_MODES = [
    *(node("openai_chat.mjs", mode) for mode in ("once", "stream")),
    *(node("anthropic_messages.mjs", mode) for mode in ("once", "stream")),
    *(node("ai_sdk.mjs", api, *s) for api in ("openai", "chat", "anthropic") for s in ([], ["stream"])),
]  # fmt: skip
CLIENTS = [
    python("openai_chat.py", "stream"),
    python("openai_responses.py", "sync"),
    python("anthropic_messages.py", "stream"),
    python("openai_agents_sdk.py", "responses"),
    python("pydantic_ai_agent.py", "openai-chat"),
    python("langgraph_agent.py", "anthropic"),
]
NODE_CLIENTS = [node("openai_chat.mjs", "stream"), node("anthropic_messages.mjs", "once"), node("ai_sdk.mjs", "openai")]
DRIFTS = {
    "AGENT_SYSTEM": "You are chatty.",
    "AGENT_TEMPERATURE": "0.7",
    "AGENT_DESCRIPTION": "Tell the weather on a planet.",
}


def name(command: list[str]) -> str:
    return "-".join(word.rpartition("/")[2] for word in command[1:])


@pytest.mark.parametrize("agent", MODES, ids=name)
def test_a_python_client_sees_at_replay_what_it_saw_at_record(
    agent: list[str], scenario: Callable[..., Scenario], upstream: Upstream
) -> None:
    _replays_what_it_recorded(scenario(agent, CALLS, BOTH), upstream)


@pytest.mark.usefixtures("node_modules")
@pytest.mark.parametrize("agent", NODE_MODES, ids=name)
def test_a_node_client_sees_at_replay_what_it_saw_at_record(
    agent: list[str], scenario: Callable[..., Scenario], upstream: Upstream
) -> None:
    _replays_what_it_recorded(scenario(agent, CALLS, BOTH), upstream)


@pytest.mark.parametrize("agent", CLIENTS, ids=name)
def test_a_python_client_whose_configuration_drifted_fails_at_once(
    agent: list[str], scenario: Callable[..., Scenario], upstream: Upstream
) -> None:
    _fails_on_drift(scenario(agent, CALLS, BOTH), upstream)


@pytest.mark.usefixtures("node_modules")
@pytest.mark.parametrize("agent", NODE_CLIENTS, ids=name)
def test_a_node_client_whose_configuration_drifted_fails_at_once(
    agent: list[str], scenario: Callable[..., Scenario], upstream: Upstream
) -> None:
    _fails_on_drift(scenario(agent, CALLS, BOTH), upstream)


def _replays_what_it_recorded(flow: Scenario, upstream: Upstream) -> None:
    recorded = flow.record()
    assert (recorded.code, recorded.flow.verdict) == (0, "pass"), recorded.said
    assert recorded.flow.counts.turns == len(upstream.seen) == 2
    upstream.stop()

    replayed = flow.run()
    assert (replayed.code, replayed.flow.verdict) == (0, "pass"), replayed.said
    assert replayed.printed == recorded.printed
    assert recorded.printed
    assert replayed.flow.counts == recorded.flow.counts.model_copy(update={"recorded_turns": 2})


def _fails_on_drift(flow: Scenario, upstream: Upstream) -> None:
    assert flow.record().code == 0
    upstream.stop()
    for variable, value in DRIFTS.items():
        flow.copy(variable.lower(), agent={"env": {variable: value}})
    flow.spec.unlink()

    replayed = flow.cli("run", ".", "-j", "1")
    assert replayed.report is not None
    assert replayed.code == 1
    for result in replayed.report.flows:
        assert (result.verdict, result.exit_code) == ("fail", 1), replayed.said
        assert result.findings[0].id == "model.divergence"
        assert result.counts.turns == 1
        assert result.agent is not None and result.agent.ending in ("exited", "stopped after divergence")
