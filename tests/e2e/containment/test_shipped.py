"""The control among the shipped specs: certified where that can be done, skipped with the reason until it is wanted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.e2e.containment.harness import ROOT
from tests.e2e.scenario import Scenario, shell

AGENT = Path("examples/agents/stdlib_loop.py")
WANTED = {"CERTIFY_EGRESS": "1"}


@pytest.fixture
def shipped(contained_here: None, tmp_path: Path) -> Scenario:
    """The shipped spec in a folder of its own, with its cassette and its agent."""
    folder = tmp_path / "work"
    for path in (Path("specs/egress.flow.yaml"), Path("specs/egress.trace.json"), AGENT):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    return Scenario(folder, folder / "specs" / "egress.flow.yaml", shell(tmp_path / "home"))


def test_the_shipped_control_is_skipped_until_wanted_then_certified_and_audited(shipped: Scenario) -> None:
    skipped = shipped.cli("run", "specs")
    assert (skipped.code, "CERTIFY_EGRESS is not set" in skipped.said) == (0, True), skipped.said
    assert shipped.cli("audit", "specs").code == 1
    done = shipped.cli("run", "specs", **WANTED)
    assert (done.code, done.ids) == (0, []), done.said
    certified = shipped.cli("audit", "specs")
    assert (certified.code, "1 of 1 control certified" in certified.stdout) == (0, True), certified.said


def test_it_fails_for_an_agent_that_phones_home(shipped: Scenario) -> None:
    agent = shipped.folder / AGENT
    agent.write_text("import socket\nsocket.socket().connect_ex(('192.0.2.1', 443))\n" + agent.read_text())
    done = shipped.cli("run", "specs", **WANTED)
    assert (done.code, done.ids) == (3, ["egress.undeclared"]), done.said
    assert shipped.cli("audit", "specs").code == 1
