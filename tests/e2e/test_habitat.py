"""Agents that depend on their home, their folder, the time and themselves: guilty as they are, innocent at home."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.scenario import HERE, Outcome, Scenario, node, python

from flowproof_runner.habitat.clock import libfaketime

type New = Callable[..., Scenario]

AGENTS = [pytest.param(python("remembers.py"), id="python"), pytest.param(node("remembers.mjs"), id="node")]
AT_HOME = {"home": "isolated", "workspace": {"from": "fixture", "git": True}, "clock": "2026-01-01T00:00:00Z"}


@pytest.fixture
def fixture(tmp_path: Path) -> Path:
    """The folder the agents' workspaces are copies of."""
    folder = tmp_path / "work" / "fixture"
    folder.mkdir(parents=True)
    (folder / "hello.txt").write_text("hello\n")
    return folder


def divergences(outcome: Outcome) -> int:
    return outcome.ids.count("model.divergence")


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_at_the_users_home_is_not_the_same_twice(new: New, agent: list[str]) -> None:
    for fact in ("runs", "notes", "now", "zone"):
        flow = new(agent, {"AGENT_TELLS": fact}, name=fact)
    assert flow.cli("record", ".", TZ="Africa/Nairobi").code == 0
    again = flow.cli("run", ".", TZ="Europe/Rome")
    assert again.code == 1 and again.report is not None, again.said
    assert [[f.id for f in each.findings].count("model.divergence") for each in again.report.flows] == [1, 1, 1, 1]


@pytest.mark.parametrize("agent", AGENTS)
def test_in_a_home_of_the_run_it_is(new: New, agent: list[str], fixture: Path, tmp_path: Path) -> None:
    flow = new(agent, {}, allow_egress=[], **AT_HOME)
    recorded = flow.record("--twice", TZ="Africa/Nairobi", LANG="de_DE.UTF-8")
    assert recorded.code == 0, recorded.said
    assert "the same twice" in recorded.stdout
    assert '"runs": 1' in recorded.printed.replace('":1', '": 1')
    assert "2026-01-01T00:00:00" in recorded.printed

    (tmp_path / "other").mkdir()
    again = flow.run(HOME=str(tmp_path / "other"), TZ="Europe/Rome", LC_ALL="C")
    assert (again.code, again.printed) == (0, recorded.printed), again.said
    assert not (tmp_path / "home" / ".remembers").exists()
    assert os.listdir(fixture) == ["hello.txt"]
    assert not list(Path("/tmp").glob("flowproof*/flow"))

    (fixture / "hello.txt").write_text("hullo\n")
    changed = flow.run()
    assert (changed.code, divergences(changed)) == (1, 1), changed.said


def test_an_adapter_is_at_home_there_too(new: New, fixture: Path, tmp_path: Path) -> None:
    words = {"adapter": python("adapter_remembers.py"), "output": "adapter"}
    flow = new([], {}, **words, **AT_HOME)
    recorded = flow.record("--twice", TZ="Africa/Nairobi")
    assert recorded.code == 0, recorded.said
    assert "the same twice" in recorded.stdout

    (tmp_path / "other").mkdir()
    again = flow.run(HOME=str(tmp_path / "other"), TZ="Europe/Rome")
    assert again.code == 0, again.said
    assert not (tmp_path / "home" / ".remembers").exists()

    (fixture / "hello.txt").write_text("hullo\n")
    changed = flow.run()
    assert (changed.code, divergences(changed)) == (1, 1), changed.said


def test_two_runs_at_once_are_mapped_to_the_recorded_folder(new: New, fixture: Path) -> None:
    flow = new(python("remembers.py"), {}, **AT_HOME)
    assert flow.record().code == 0
    flow.copy("second")
    beside = flow.folder / "beside"
    beside.mkdir()
    for name in ("flow", "second"):  # the same name, so that both want the same folder
        (beside / name).mkdir()
        (beside / name / "fixture").symlink_to(fixture)
        for kind in ("flow.yaml", "trace.json"):
            (beside / name / f"flow.{kind}").write_bytes((flow.folder / f"flow.{kind}").read_bytes())
    both = flow.cli("run", "beside", "--jobs", "2")
    assert both.code == 0, both.said


def test_doctor_and_heal_let_it_live_there_too(new: New, fixture: Path) -> None:
    flow = new(python("remembers.py"), {}, **AT_HOME)
    examined = flow.cli("doctor", "--spec", "flow.flow.yaml")
    assert examined.code == 0, examined.said
    assert "nothing between two runs" in examined.stdout
    assert flow.record().code == 0
    healed = flow.cli("heal", "flow.flow.yaml")
    assert healed.code == 0, healed.said


@pytest.mark.skipif(libfaketime() is None, reason="libfaketime is not installed: apt install faketime")
def test_libfaketime_gives_its_time_to_what_loads_no_hook(new: New) -> None:
    """Python with -I stands for any program that is neither Python nor Node, and so does the `date` it calls."""
    isolated = [sys.executable, "-I", str(HERE / "agents" / "remembers.py")]
    at = {"at": "2026-01-01T00:00:00Z", "libfaketime": True}
    flow = new(isolated, {"AGENT_TELLS": "now,date"}, clock=at, home="isolated")
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    told = json.loads(recorded.printed)
    assert told["now"].startswith("2026-01-01T00:00:00") and "Jan" in told["date"] and "2026" in told["date"]
    assert flow.run().code == 0
    flow.change(agent={"clock": {**at, "at": "2026-01-02T00:00:00Z"}})
    changed = flow.run()
    assert (changed.code, divergences(changed)) == (1, 1), changed.said


def test_a_clock_that_nobody_goes_by_fails_the_run(new: New) -> None:
    isolated = [sys.executable, "-I", str(HERE / "agents" / "remembers.py")]
    flow = new(isolated, {}, clock="2026-01-01T00:00:00Z")
    outcome = flow.record()
    assert (outcome.code, outcome.ids) == (1, ["agent.clock"]), outcome.said
    assert not flow.cassette.exists()


def test_a_clients_profile_makes_it_replay(new: New, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE}/agents/codex_like.py "$@"\n')
    program.chmod(0o755)
    flow = new([str(program), "exec"], {}, client="codex")
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    assert "good for one day" not in recorded.said

    again = flow.run()
    assert again.code == 0, again.said
    assert {pin.name.split(": ")[1]: (pin.count, pin.source) for pin in again.flow.pins} == {
        "prompt_cache_key": (1, "client codex"),
        "client_metadata": (1, "client codex"),
        "input[*].id": (1, "client codex"),
    }
    assert "from client codex" in again.stdout
    assert "held nothing" not in again.said
    assert "client codex: OpenAI's Codex" in flow.cli("check", "--explain", "flow.flow.yaml").stdout
    assert "`client: codex`" not in flow.cli("doctor", "--spec", "flow.flow.yaml").stdout

    flow.change(agent={"env": {"AGENT_EXTRA": "in a hurry"}})
    changed = flow.run()
    assert (changed.code, divergences(changed)) == (1, 1), changed.said

    flow.change(client="", agent={"env": {"CODEX_HOME": str(tmp_path)}})
    (tmp_path / "config.toml").write_text(
        'model_provider = "p"\n[model_providers.p]\nbase_url = "http://127.0.0.1:1/v1"\nenv_key = "OPENAI_API_KEY"\n'
    )
    assert flow.run().code == 1


@pytest.fixture
def new(scenario: New) -> New:
    """A scenario whose agent has these variables and surroundings."""

    def make(
        command: list[str], env: dict[str, str], client: str = "", name: str = "flow", **agent: object
    ) -> Scenario:
        parts = {"client": client} if client else {}
        start = {"command": command} if command else {}
        return scenario({**start, "env": env, **agent}, name=name, **parts)

    return make
