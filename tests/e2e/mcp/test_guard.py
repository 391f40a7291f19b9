"""The shipped guard: an adversarial recording, and what happens the day the agent's code no longer refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.e2e.scenario import Scenario, shell

ROOT = Path(__file__).parents[3]


@pytest.fixture
def guard(tmp_path: Path) -> Scenario:
    """The shipped spec with its cassette, beside its agent; there is no MCP server to fall back to."""
    for folder in ("specs", "examples/agents"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return Scenario(tmp_path, tmp_path / "specs" / "plan-mode.flow.yaml", shell(tmp_path / "home"))


def test_the_code_that_refuses_passes(guard: Scenario) -> None:
    outcome = guard.run()
    assert outcome.code == 0, outcome.said


def test_the_day_it_stops_refusing_is_a_critical_finding(guard: Scenario) -> None:
    guard.edit("AGENT_MODE: plan", "AGENT_MODE: act")
    outcome = guard.run()
    assert outcome.code == 3, outcome.said
    assert "mcp.divergence" in outcome.ids
    assert "tools/call export was called although all 1 recorded calls had been made" in outcome.told
