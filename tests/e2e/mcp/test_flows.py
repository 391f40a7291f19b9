"""Whole flows whose tools are an MCP server's: the real CLI, the real boundary, an agent on official SDKs."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.mcp.lanes import HERE, Listening
from tests.e2e.scenario import Scenario

from flowproof_addons.trace import file

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


def test_a_declared_tool_is_listed_without_a_server_that_has_it_only_if_its_schema_is_given(
    scenario: Callable[..., Scenario], notes: Path
) -> None:
    tools = [
        {"name": "get_moon", "result": "full", "schema": {"type": "object"}},
        {"name": "get_tide", "result": "high"},
    ]
    entry = {"name": "weather", "command": [sys.executable, SERVER, str(notes)], "tools": tools}
    made = scenario([sys.executable, AGENT, "${flowproof.mcp_server.weather}"], CALLED, mcp=[entry])
    for outcome in (made.record(), made.run()):
        assert outcome.code == 0, outcome.said
        assert outcome.flow.trace is not None
        offered = str(file.load(outcome.workspace / outcome.flow.trace).turns[0].request.body)
        assert ("get_weather" in offered, "get_moon" in offered, "get_tide" in offered) == (True, True, False)


def test_a_call_without_the_confirmation_the_contract_wants_is_refused_and_one_with_it_is_not(
    scenario: Callable[..., Scenario], notes: Path
) -> None:
    entry = {"name": "weather", "command": [sys.executable, SERVER, str(notes)]}
    parts = {"enforce": ["confirmation"], "expect": {"confirm": ["get_weather needs get_time approved"]}}
    steps = ["assert_tool_request: get_weather", "assert_no_tool_call: get_weather"]
    made = scenario([sys.executable, AGENT, "${flowproof.mcp_server.weather}"], steps, mcp=[entry], **parts)
    outcome = made.record()
    assert outcome.code == 3, outcome.said
    assert outcome.ids == ["dispatch.authorization_denied"]
    assert "wants a confirmation first" in outcome.printed
    assert "get_weather" not in notes.read_text()


class Guarded(BaseHTTPRequestHandler):
    """A server that wants a token, opens sessions, and names them in what it says."""

    protocol_version = "HTTP/1.1"
    token = "tok-6f1c0a9d3b7e4c58"
    session = "real-session-2b1de8c0f7a94c6d"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.headers.get("authorization") != f"Bearer {self.token}":
            return self._answer(401, None, {"www-authenticate": "Bearer realm=weather"})
        if "id" not in message:
            return self._answer(202, None, {})
        text = {"content": [{"type": "text", "text": f"rain, says {self.session}"}]}
        opening = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "guarded"}}
        result = opening if message["method"] == "initialize" else text
        self._answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, {"mcp-session-id": self.session})

    def do_DELETE(self) -> None:
        self._answer(200, None, {})

    def _answer(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def guarded(scenario: Callable[..., Scenario]) -> Iterator[Scenario]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        threading.Thread(target=server.serve_forever).start()
        entry = {
            "name": "weather",
            "url": f"http://127.0.0.1:{server.server_port}/mcp",
            "headers": {"Authorization": "Bearer ${WEATHER_TOKEN}"},
        }
        agent = [sys.executable, str(HERE / "stubborn.py"), "${flowproof.mcp_url.weather}"]
        yield scenario(agent, ["assert_tool_call: get_weather"], mcp=[entry])
        server.shutdown()


def test_credentials_and_session_ids_are_in_nothing_that_is_kept(guarded: Scenario) -> None:
    recorded = guarded.record(WEATHER_TOKEN=Guarded.token)
    assert recorded.code == 0, recorded.said
    replayed = guarded.run()
    assert replayed.code == 0, replayed.said
    kept = [path for path in guarded.folder.rglob("*") if path.is_file()]
    assert guarded.cassette in kept and b"flowproof-1" in guarded.cassette.read_bytes()
    for secret in (Guarded.token, Guarded.session):
        assert [str(path) for path in kept if secret.encode() in path.read_bytes()] == []


def test_a_server_that_wants_other_credentials_fails_the_recording_before_the_agent(guarded: Scenario) -> None:
    outcome = guarded.record(WEATHER_TOKEN="another")
    assert outcome.code == 2, outcome.said
    assert "answered 401 Bearer realm=weather: put the credentials it wants into mcp.weather.headers" in outcome.said
    assert not guarded.cassette.exists()
    assert not list(guarded.folder.rglob("stdout.txt")), "the agent was started"


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
