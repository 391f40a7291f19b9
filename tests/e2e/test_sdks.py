"""Official SDKs and frameworks record once, replay offline to the last field, and fail on the first drift.

One test a client: every mode of it is a flow, all recorded in one invocation, and replayed in another together with
copies of the first mode whose prompt, temperature or tool description has drifted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.e2e.scenario import Outcome, Scenario, node, python
from tests.e2e.upstream import Upstream

from flowproof_runner.result import FlowResult

PROMPT = "How is Nairobi, both weather and time?"
STEPS = (
    "assert_tool_call: get_weather where city equals Nairobi",
    "assert_tool_call: get_time",
    "assert: reply contains noon",
)
DRIFTS = {
    "AGENT_SYSTEM": "You are chatty.",
    "AGENT_TEMPERATURE": "0.7",
    "AGENT_DESCRIPTION": "Tell the weather on a planet.",
}


@dataclass(frozen=True, slots=True)
class Client:
    """An agent and the ways in which it can be run; the first one's drifts are shown."""

    program: Callable[..., list[str]]
    script: str
    modes: tuple[str, ...]

    @property
    def flows(self) -> dict[str, list[str]]:
        """The command of each mode, by a name for its flow."""
        return {mode.replace(" ", "-"): self.program(self.script, *mode.split()) for mode in self.modes}


PYTHON = [
    Client(python, "openai_chat.py", ("stream", "sync", "async", "async-stream")),
    Client(python, "openai_responses.py", ("sync", "async", "stream", "continued")),
    Client(python, "anthropic_messages.py", ("stream", "sync", "async", "async-stream")),
    Client(python, "openai_agents_sdk.py", ("responses", "chat", "stream")),
    Client(python, "pydantic_ai_agent.py", ("openai-chat", "openai-chat stream", "openai-responses")),
    Client(python, "pydantic_ai_agent.py", ("anthropic", "anthropic stream", "openai-responses stream")),
    Client(python, "langgraph_agent.py", ("openai", "openai stream", "responses")),
    Client(python, "langgraph_agent.py", ("anthropic", "anthropic stream", "responses stream")),
]
NODE = [
    Client(node, "openai_chat.mjs", ("stream", "once")),
    Client(node, "anthropic_messages.mjs", ("once", "stream")),
    Client(node, "ai_sdk.mjs", ("openai", "openai stream", "chat", "chat stream", "anthropic", "anthropic stream")),
]


def name(client: Client) -> str:
    return f"{client.script}-{client.modes[0].split()[0]}"


@pytest.mark.parametrize("client", PYTHON, ids=name)
def test_a_python_client_sees_at_replay_what_it_saw_at_record_and_fails_on_drift(
    client: Client, scenario: Callable[..., Scenario], upstream: Upstream
) -> None:
    _proves(client, scenario, upstream)


@pytest.mark.usefixtures("node_modules")
@pytest.mark.parametrize("client", NODE, ids=name)
def test_a_node_client_sees_at_replay_what_it_saw_at_record_and_fails_on_drift(
    client: Client, scenario: Callable[..., Scenario], upstream: Upstream
) -> None:
    _proves(client, scenario, upstream)


def _proves(client: Client, scenario: Callable[..., Scenario], upstream: Upstream) -> None:
    flows = [scenario(command, STEPS, PROMPT, name=mode) for mode, command in client.flows.items()]
    recorded = flows[0].cli("record", ".", "-j", "2")
    assert recorded.code == 0, recorded.said
    assert len(upstream.seen) == 2 * len(flows)
    upstream.stop()
    for variable, value in DRIFTS.items():
        flows[0].copy(variable.lower(), agent={"env": {variable: value}})

    replayed = flows[0].cli("run", ".", "-j", "2")
    assert replayed.code == 1, replayed.said
    first, second = _by_spec(recorded), _by_spec(replayed)
    for mode in client.flows:
        assert first[mode].counts.turns == 2
        assert (second[mode].verdict, second[mode].counts.turns) == ("pass", 2), replayed.said
        assert _counted(first[mode]) == _counted(second[mode])
        assert recorded.output(first[mode]) == replayed.output(second[mode]) != ""
    for variable in DRIFTS:
        _diverged(second[variable.lower()])


def _by_spec(outcome: Outcome) -> dict[str, FlowResult]:
    assert outcome.report is not None
    return {flow.spec.removesuffix(".flow.yaml"): flow for flow in outcome.report.flows}


def _counted(flow: FlowResult) -> object:
    """Turns, calls and tokens; how many turns were recorded is known at replay only."""
    return flow.counts.model_copy(update={"recorded_turns": None})


def _diverged(flow: FlowResult) -> None:
    """At its first request, whatever the agent made of the error, and stopped."""
    assert (flow.verdict, flow.exit_code) == ("fail", 1)
    assert flow.findings[0].id == "model.divergence"
    assert flow.counts.turns == 1
    assert flow.agent is not None and flow.agent.ending in ("exited", "stopped after divergence")
