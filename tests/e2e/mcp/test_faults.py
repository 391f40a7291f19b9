"""Faults of MCP servers: what the agent meets, in both phases and over both transports."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.mcp.lanes import HERE, Listening
from tests.e2e.scenario import Scenario

type Listen = Callable[[Sequence[str], Mapping[str, str]], Listening]

SERVER = str(HERE / "servers" / "weather.py")
FAULTS: list[dict[str, Any]] = [
    {"error": "disk full"},
    {"rpc_error": "busy", "code": -32000},
    {"dies": True},
    {"timeout": "200ms"},
    {"slow": "200ms"},
]
MET = ["error disk full", "rpc -32000 busy", "gone", "gone", "answered"]


def faults(*ways: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"mcp": "weather", "call": "get_weather", **way} for way in ways]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """What the real server writes into."""
    return tmp_path / "notes.txt"


@pytest.fixture
def stubborn(scenario: Callable[..., Scenario], listening: Listen, notes: Path) -> Callable[..., Scenario]:
    def make(transport: str, *tries: str) -> Scenario:
        entry: dict[str, Any] = {"name": "weather", "command": [sys.executable, SERVER, str(notes)]}
        handle = "${flowproof.mcp_server.weather}"
        if transport == "http":
            url = listening([sys.executable, SERVER, str(notes), "{port}"], {}).url
            entry, handle = {"name": "weather", "url": url}, "${flowproof.mcp_url.weather}"
        agent = [sys.executable, str(HERE / "stubborn.py"), handle, *tries]
        return scenario(agent, ["assert_tool_call: get_weather"], mcp=[entry])

    return make


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_an_agent_that_calls_again_meets_every_fault_and_passes(
    transport: str, stubborn: Callable[..., Scenario], notes: Path
) -> None:
    """On top of a cassette recorded without faults, and of one recorded under them; no fault reaches the server."""
    flow = stubborn(transport)
    assert flow.record().code == 0
    flow.change(faults=faults(*FAULTS))
    on_top = flow.run()
    assert (on_top.code, json.loads(on_top.printed)) == (0, MET), on_top.said
    assert [use.count for use in on_top.flow.faults] == [1] * len(FAULTS)
    notes.write_text("")
    under = flow.record()
    assert (under.code, json.loads(under.printed)) == (0, MET), under.said
    assert notes.read_text().count("get_weather Nairobi") == 1
    again = flow.run()
    assert (again.code, json.loads(again.printed)) == (0, MET), again.said


def test_an_agent_that_gives_up_fails_and_the_fault_is_named(stubborn: Callable[..., Scenario]) -> None:
    flow = stubborn("stdio", "1")
    assert flow.record().code == 0
    flow.change(faults=faults({"error": "disk full"}, {"error": "never", "nth": 2}))
    failed = flow.run()
    assert (failed.code, sorted(failed.ids)) == (1, ["agent.exit", "fault.unfired", "mcp.unserved"]), failed.said
    assert "mcp.weather.get_weather call 1: tool error 'disk full'" in failed.told
