"""`flowproof doctor` on real agents: what it says and with which exit code."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from tests.e2e.scenario import Outcome, Scenario, python, shell, spec

AWAY = "import socket; socket.socket().connect_ex(('198.51.100.9', 443))"


@pytest.fixture
def bench(tmp_path: Path) -> Scenario:
    """A folder without a spec, and no model anywhere."""
    folder = tmp_path / "work"
    folder.mkdir()
    return Scenario(folder, folder / "flow.flow.yaml", shell(tmp_path / "home"))


def doctor(bench: Scenario, agent: list[str], *options: str) -> Outcome:
    return bench.cli("doctor", "--agent", shlex.join(agent), *options)


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (python("openai_chat.py", "stream"), "openai-chat: POST /v1/chat/completions from OpenAI/Python"),
        (python("openai_responses.py"), "openai-responses: POST /v1/responses"),
        (python("anthropic_messages.py", "stream"), "anthropic-messages: POST /v1/messages from Anthropic/Python"),
    ],
    ids=["chat", "responses", "messages"],
)
def test_an_agent_that_follows_its_variable_is_wired(bench: Scenario, agent: list[str], said: str) -> None:
    outcome = doctor(bench, agent)
    assert outcome.code == 0, outcome.said
    assert said in outcome.stdout
    assert "_BASE_URL" in next(line for line in outcome.stdout.splitlines() if line.startswith("honoured"))
    assert "nothing between two runs" in outcome.stdout


def test_an_agent_that_asks_no_model_is_told_what_to_map(bench: Scenario) -> None:
    outcome = doctor(bench, [sys.executable, "-c", "pass"])
    assert outcome.code == 1, outcome.said
    assert "NOT WIRED" in outcome.stdout
    assert "${flowproof.proxy_url}" in outcome.stdout


def test_an_agent_that_hangs_is_ended_with_its_whole_tree(bench: Scenario) -> None:
    outcome = doctor(bench, ["sh", "-c", "sleep 600 & sleep 600"], "--timeout", "1")
    assert outcome.code == 1, outcome.said  # and nothing is left: `cli` looked
    assert "stopped at the timeout" in outcome.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="nothing sees connections elsewhere")
def test_a_connection_elsewhere_is_refused_and_reported(bench: Scenario) -> None:
    outcome = doctor(bench, [sys.executable, "-c", AWAY])
    if "not contained" in outcome.stdout:
        pytest.skip(outcome.stdout)
    assert outcome.code == 1, outcome.said
    assert "198.51.100.9:443 tcp, refused" in outcome.stdout


@pytest.mark.parametrize("words", [(), ("--agent", "no-such-program"), ("--agent", "true", "--timeout", "soon")])
def test_what_cannot_be_examined_is_exit_code_two(bench: Scenario, words: tuple[str, ...]) -> None:
    outcome = bench.cli("doctor", *words)
    assert outcome.code == 2
    assert outcome.stderr.startswith("flowproof: ")


def test_the_agent_of_a_spec_needs_no_further_word(bench: Scenario) -> None:
    import yaml

    bench.spec.write_text(yaml.safe_dump(spec(python("openai_chat.py"))))
    outcome = bench.cli("doctor", "--spec", str(bench.spec), "--once")
    assert outcome.code == 0, outcome.said
