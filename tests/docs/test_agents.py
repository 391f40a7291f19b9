"""The table of third-party agents says what is locked, and every agent that is known has a page and a profile."""

from __future__ import annotations

import json

import pytest
from tests.agents import documented, install

from flowproof_runner.spec.clients.names import names
from flowproof_runner.spec.file import load

SPECS = install.HERE.parents[1] / "specs" / "agents"
REQUIRED = {
    *("aider", "claude-code", "cline", "codex", "continue", "copilot", "gemini-cli", "gptme", "mini-swe-agent"),
    *("opencode", "openhands", "pi", "qwen-code"),
}
"""Those that flowproof promises to know."""

AGENTS = documented.agents()


def test_every_agent_has_a_spec_a_lock_and_a_row() -> None:
    specs = {path.name.removesuffix(".flow.yaml") for path in SPECS.glob("*.flow.yaml")}
    assert specs == set(install.names()) == set(AGENTS) >= REQUIRED


def test_every_agent_that_is_promised_has_a_profile_which_its_spec_uses() -> None:
    assert set(names()) >= REQUIRED
    assert {load(SPECS / f"{name}.flow.yaml").spec.client for name in REQUIRED} == REQUIRED


@pytest.mark.parametrize("name", AGENTS)
def test_the_version_in_the_table_is_the_one_that_is_tested(name: str) -> None:
    row = AGENTS[name]
    assert row.dialects
    if row.registry == "npm":
        manifest = json.loads((install.HERE / "npm" / name / "package.json").read_text())
        assert row.version in manifest["dependencies"].values()
    else:
        assert f"=={row.version}" in (install.HERE / "pypi" / f"{name}.txt").read_text()
