"""Third-party agents, as their vendors ship them, recorded from the stand-in and replayed: `pytest -m agents`.

Nothing recorded is committed: the requests hold the vendors' prompts.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.agents import documented, install
from tests.e2e.scenario import Outcome, Scenario, shell

from standin import coder
from standin.server import StandIn

pytestmark = pytest.mark.agents

SPECS = Path(__file__).parents[2] / "specs" / "agents"


def flow_of(name: str, folder: Path, upstream: str) -> Scenario:
    """A copy of the shipped spec and its workspace, and a shell that finds the agent's programs first."""
    programs = install.programs(name)
    if programs is None:
        pytest.skip(f"not installed: uv run python tests/agents/install.py {name}")
    work = shutil.copytree(SPECS, folder / "specs")
    if programs.parent.name == "node_modules":
        (work / "node_modules").symlink_to(programs.parent)  # an SDK is imported from beside the program that uses it
    given = shell(folder / "shell", FLOWPROOF_AGENT_UPSTREAM=upstream, FLOWPROOF_AGENTS="1")
    path = os.pathsep.join([str(programs), given["PATH"]])
    return Scenario(work, work / f"{name}.flow.yaml", {**given, "PATH": path})


def homes(folder: Path, name: str) -> dict[str, str]:
    """A home of flowproof's own that nothing was ever written to; the agent's is made anew for each run anyway."""
    home = folder / name
    home.mkdir()
    return {"HOME": str(home)}


def divergences(outcome: Outcome) -> int:
    """How many there are. Exit code 1 and the other findings: the run stopped short, as it must."""
    assert outcome.code == 1, outcome.said
    return outcome.ids.count("model.divergence")


@pytest.mark.parametrize("name", sorted(path.name.removesuffix(".flow.yaml") for path in SPECS.glob("*.flow.yaml")))
def test_it_replays_in_fresh_homes_and_leaves_the_recording_once_when_something_changes(
    name: str, tmp_path: Path
) -> None:
    with StandIn(coder.choose) as model:
        flow = flow_of(name, tmp_path, model.url)
        recorded = flow.record(**homes(tmp_path, "first"))
        assert recorded.code == 0, recorded.said
        asked = len(model.seen)
        for again in ("second", "third"):
            replayed = flow.run(**homes(tmp_path, again))
            assert (replayed.code, replayed.ids) == (0, []), replayed.said
        assert name == "aider" or _asked_in_parallel(flow.cassette)
        assert _dialects(flow.cassette) == documented.agents()[name].dialects

        notes = flow.folder / "workspace" / "notes.txt"
        flow.edit("at nine", "at ten", notes)
        assert divergences(flow.run(**homes(tmp_path, "workspace"))) == 1
        flow.edit("at ten", "at nine", notes)

        flow.edit("What do my notes say?", "What do the notes say?")
        assert divergences(flow.run(**homes(tmp_path, "prompt"))) == 1
        assert len(model.seen) == asked  # no replay asks a model


def _asked_in_parallel(cassette: Path) -> bool:
    replies = [json.dumps(turn["reply"]) for turn in json.loads(cassette.read_text())["model"]["turns"]]
    return any(all(command in reply for command in coder.COMMANDS) for reply in replies)


def _dialects(cassette: Path) -> set[str]:
    """A turn that only adds to an earlier one is in its dialect, and does not say so."""
    turns = json.loads(cassette.read_text())["model"]["turns"]
    return {turn["dialect"] for turn in turns if "dialect" in turn}
