"""A server that is not what its snapshot says any more: said when recorded again and healed, not at replay."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable

import pytest
from tests.e2e.mcp.lanes import HERE
from tests.e2e.scenario import Scenario

AGENT = str(HERE / "agent.py")


@pytest.fixture
def flow(scenario: Callable[..., Scenario]) -> Scenario:
    """A recorded flow over a server of its own that is held to its snapshot."""
    made = scenario(
        [sys.executable, AGENT, "${flowproof.mcp_server.weather}"],
        ["assert_tool_call: get_weather"],
        mcp=[{"name": "weather", "command": [sys.executable, "weather.py", "notes.txt"], "snapshot": "weather.json"}],
    )
    shutil.copy(HERE / "servers" / "weather.py", made.folder)
    kept = made.cli("mcp", "snapshot", "weather.json", "--", sys.executable, "weather.py", "notes.txt")
    assert kept.code == 0, kept.said
    taken = json.loads((made.folder / "weather.json").read_text())
    assert taken["capabilities"] != taken["discovered"], (
        "this server says otherwise to clients of 2026, as the agent is"
    )
    recorded = made.record()
    assert recorded.code == 0, recorded.said
    return made


def test_drift_is_classed_when_recorded_again_and_healed_and_nothing_is_kept(flow: Scenario) -> None:
    before = flow.cassette.read_bytes()
    server = flow.folder / "weather.py"
    flow.edit('"""The weather in a city."""', '"""The weather anywhere."""', server)
    flow.edit("def get_time(city: str)", "def get_time(city: str, zone: str)", server)
    flow.edit("@server.tool()\ndef get_weather", '@server.tool(title="Weather")\ndef get_weather', server)
    recorded = flow.record()
    assert recorded.code == 1, recorded.said
    assert "mcp.schema_drift" in recorded.ids
    for change in (
        "breaking   tool get_time, argument zone: is new and required",
        "prompt     tool get_weather: another description",
        "prompt     tool get_weather: another title",
    ):
        assert change in recorded.said, recorded.said
    healed = flow.cli("heal", flow.spec.name, "--apply")
    assert healed.code == 1, healed.said
    assert "breaking   tool get_time, argument zone: is new and required" in healed.said
    assert flow.cassette.read_bytes() == before
    replayed = flow.run()
    assert replayed.code == 0, replayed.said


def test_what_is_written_otherwise_and_means_the_same_is_no_drift(flow: Scenario) -> None:
    server = flow.folder / "weather.py"
    text = server.read_text()
    weather, time = text.index("@server.tool()\ndef get_weather"), text.index("@server.tool()\ndef get_time")
    end = text.index('if __name__ == "__main__":')
    server.write_text(text[:weather] + text[time:end] + text[weather:time] + text[end:])
    recorded = flow.record()
    assert "mcp.schema_drift" not in recorded.ids, recorded.said
