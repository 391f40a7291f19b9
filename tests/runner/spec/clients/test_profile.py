"""The built-in profiles of clients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flowproof_addons.matching.rules import Rules
from flowproof_runner.drivers.base import Addresses
from flowproof_runner.drivers.handles import handles
from flowproof_runner.habitat import of_spec
from flowproof_runner.spec.clients.names import names
from flowproof_runner.spec.clients.profile import named, pins_of, recognised
from flowproof_runner.spec.clients.words import of_client
from flowproof_runner.spec.file import LoadedSpec, load
from flowproof_runner.spec.habitat import Home
from flowproof_runner.spec.session import pins

type Load = Callable[[str], LoadedSpec]


@pytest.fixture
def spec(tmp_path: Path) -> Load:
    def loaded(text: str) -> LoadedSpec:
        path = tmp_path / "x.flow.yaml"
        path.write_text(f"name: n\napp: agent\n{text}\nsteps:\n- prompt: go\n- assert: reply is ok\n")
        return load(path)

    return loaded


@pytest.mark.parametrize("name", names())
def test_every_profile_can_be_used(name: str, tmp_path: Path) -> None:
    """Its pins compile, each says why and is named once, and it uses no handle that no run has."""
    client = named(name)
    entries = client.pins
    assert Rules(pins(entries)).names == tuple(dict.fromkeys(pin.label for pin in entries))
    assert all(pin.why for pin in entries)
    known = handles("", Addresses(""), tmp_path, {"flowproof.home": "", "flowproof.workspace": ""})
    profile = client.profile
    assert known.unknown((*profile.files.values(), *profile.env.values(), *profile.arguments)) == ()
    assert client.home(None).mode == profile.home


def test_a_specs_own_pins_come_first(spec: Load) -> None:
    loaded = spec("client: codex\npins: [{ at: metadata.x, why: mine }]\nagent: { command: codex }")
    found = pins_of(loaded.spec)
    assert found[0].label == "metadata.x: any value"
    assert {pin.label.partition(":")[0] for pin in found[1:]} == {"codex"}


@pytest.mark.parametrize(
    ("command", "added"),
    [
        (["claude", "-p", "go"], True),
        (["/opt/bin/claude", "-p", "go"], True),
        (["npx", "-y", "@anthropic-ai/claude-code@2.1.332", "-p", "go"], True),
        (["node", "node_modules/@anthropic-ai/claude-code/cli.js"], True),
        (["claude", "--session-id", "mine"], False),
        (["python", "runs_claude.py"], False),
    ],
)
def test_arguments_are_added_to_the_clients_own_command(command: list[str], added: bool) -> None:
    started = named("claude-code").started(command)
    assert (started != tuple(command)) is added
    assert started[: len(command)] == tuple(command)


def test_the_home_is_isolated_unless_the_spec_says_otherwise(spec: Load) -> None:
    assert of_spec.wanted(spec("client: codex\nagent: { command: codex }")).isolated
    assert not of_spec.wanted(spec("client: codex\nagent: { command: codex, home: user }")).isolated
    assert not of_spec.wanted(spec("client: llama-index\nagent: { command: python a.py }")).isolated
    assert not of_spec.wanted(spec("agent: { command: codex }")).isolated


def test_files_of_the_spec_win_over_those_of_the_profile() -> None:
    home = named("codex").home(Home(files={".codex/config.toml": "mine", ".extra": "x"}))
    assert home.files[".codex/config.toml"] == "mine"
    assert home.files[".extra"] == "x"


def test_what_does_not_reach_the_agent_is_said(spec: Load) -> None:
    def said(text: str) -> str:
        return "\n".join(of_spec.notes(spec(text)))

    assert said("client: claude-code\nagent: { command: claude -p go }") == ""
    assert "was not added" in said("client: claude-code\nagent: { command: python a.py }")
    assert "not written into your own home" in said("client: codex\nagent: { command: codex, home: user }")
    assert "only the pins hold" in said("client: codex\nagent: { url: 'http://127.0.0.1:1', proxy_port: 2 }")


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("claude-cli/2.1.332 (external, cli)", "claude-code"),
        ("codex_exec/0.171.0 (Linux)", "codex"),
        ("GeminiCLI/0.61.0", "gemini-cli"),
        ("curl/8", None),
        ("", None),
    ],
)
def test_a_client_is_recognised_by_its_user_agent(agent: str, name: str | None) -> None:
    found = recognised(agent)
    assert (found.name if found else None) == name


def test_a_profile_is_explained(spec: Load) -> None:
    told = list(of_client(spec("client: codex\nagent: { command: codex }")))
    assert told[0].startswith("  client codex: OpenAI's Codex")
    assert "    written into the isolated home: .codex/config.toml" in told
    assert list(of_client(spec("agent: { command: codex }"))) == []


def test_the_docs_name_every_profile() -> None:
    told = (Path(__file__).parents[4] / "docs" / "clients.md").read_text()
    assert [name for name in names() if f"`{name}`" not in told] == []
