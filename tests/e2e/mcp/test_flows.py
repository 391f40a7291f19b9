"""Whole flows whose tools are an MCP server's: the real CLI, the real boundary, an agent on official SDKs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.mcp.lanes import HERE, Listening
from tests.e2e.scenario import Scenario

type Listen = Callable[[Sequence[str], Mapping[str, str]], Listening]

AGENT = str(HERE / "agent.py")
SERVER = str(HERE / "servers" / "weather.py")
CALLED = ["assert_tool_call: get_weather where city equals Nairobi"]


@pytest.fixture(params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """What the real server writes into."""
    return tmp_path / "notes.txt"


@pytest.fixture
def weather(transport: str, notes: Path, listening: Listen) -> tuple[dict[str, Any], Callable[[], None]]:
    """The server's entry in a spec, and what takes the server away."""
    if transport == "stdio":
        return {"name": "weather", "command": [sys.executable, SERVER, str(notes)]}, lambda: None
    started = listening([sys.executable, SERVER, str(notes), "{port}"], {})
    return {"name": "weather", "url": started.url}, started.stop


@pytest.fixture
def flow(
    scenario: Callable[..., Scenario], weather: tuple[dict[str, Any], Callable[[], None]], transport: str
) -> Callable[..., Scenario]:
    """A flow of the agent over the server; keywords go into the server's entry, `steps` and `spec` into the spec."""

    def make(
        *overrides: str, steps: Sequence[str] = CALLED, spec: Mapping[str, Any] | None = None, **entry: Any
    ) -> Scenario:
        handle = "${flowproof.mcp_server.weather}" if transport == "stdio" else "${flowproof.mcp_url.weather}"
        command = [sys.executable, AGENT, handle, *overrides]
        return scenario(command, steps, mcp=[{**weather[0], **entry}], **(spec or {}))

    return make


def test_a_flow_replays_with_the_real_server_gone(
    flow: Callable[..., Scenario], weather: tuple[Any, Callable[[], None]], notes: Path
) -> None:
    made = flow(
        spec={"prompt": "both: weather and time in Nairobi"}, steps=[*CALLED, "assert_tool_call: weather.get_time"]
    )
    recorded = made.record()
    assert recorded.code == 0, recorded.said
    assert sorted(notes.read_text().split("\n")) == ["", "get_time Nairobi", "get_weather Nairobi", "started"]
    weather[1]()
    notes.unlink()
    replayed = made.run()
    assert replayed.code == 0, replayed.said
    assert replayed.printed == recorded.printed
    assert not notes.exists()


def test_a_changed_argument_fails_the_replay_and_names_the_path(flow: Callable[..., Scenario]) -> None:
    made = flow()
    assert made.record().code == 0
    spec = made.copy("other")
    spec.change(agent={"command": [*_command(made), "city=Mombasa"]})
    outcome = spec.run()
    assert outcome.code == 1, outcome.said
    assert "mcp.divergence" in outcome.ids
    assert "arguments.city: 'Nairobi' -> 'Mombasa'" in outcome.told


def test_a_declared_result_answers_in_both_phases_and_the_server_is_never_asked(
    flow: Callable[..., Scenario], notes: Path
) -> None:
    made = flow(tools=[{"name": "get_weather", "result": "snow"}], steps=[*CALLED, "assert: reply contains snow"])
    recorded = made.record()
    assert recorded.code == 0, recorded.said
    assert "get_weather" not in notes.read_text()
    assert made.run().code == 0


def test_a_forbidden_call_is_refused_before_the_server_and_the_agent_goes_on(
    flow: Callable[..., Scenario], notes: Path
) -> None:
    steps = ["assert_tool_request: get_weather", "assert_no_tool_call: get_weather"]
    outcome = flow(steps=steps, spec={"enforce": ["forbidden"]}).record()
    assert outcome.code == 3, outcome.said
    assert outcome.ids == ["dispatch.authorization_denied"]
    assert "get_weather" not in notes.read_text()
    assert "was refused before it reached weather" in outcome.printed


def test_the_same_call_without_enforcement_reaches_the_server_and_is_a_critical_finding(
    flow: Callable[..., Scenario], notes: Path
) -> None:
    outcome = flow(steps=["assert_no_tool_call: get_weather"]).record()
    assert outcome.code in (1, 3), outcome.said
    assert "get_weather Nairobi" in notes.read_text()


def test_an_agent_that_never_contacts_the_server_fails_with_the_variable_it_should_use(
    scenario: Callable[..., Scenario], weather: tuple[dict[str, Any], Callable[[], None]], transport: str
) -> None:
    made = scenario([sys.executable, str(HERE.parent / "agents" / "openai_chat.py")], mcp=[weather[0]])
    outcome = made.record()
    assert outcome.code == 1, outcome.said
    assert not made.cassette.exists()
    variable = "FLOWPROOF_MCP_SERVER_WEATHER" if transport == "stdio" else "FLOWPROOF_MCP_URL_WEATHER"
    assert "mcp.uncontacted" in outcome.ids
    assert variable in outcome.told


def test_a_mocked_tool_that_nothing_intercepts_is_pointed_out_once_in_each_phase(
    scenario: Callable[..., Scenario],
) -> None:
    agent = [sys.executable, str(HERE.parent / "agents" / "openai_chat.py")]
    made = scenario(agent, tools=[{"name": "get_weather", "result": "snow"}])
    for outcome in (made.record(), made.run()):
        assert outcome.code == 0, outcome.said
        assert [note for note in outcome.flow.notes if note.startswith("nothing intercepts get_weather:")]
        assert outcome.stdout.count("nothing intercepts") == 1


def _command(made: Scenario) -> list[str]:
    return list(yaml.safe_load(made.spec.read_text())["agent"]["command"])
