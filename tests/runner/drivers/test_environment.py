"""The agent's environment is a function of the shell, the addresses and the spec."""

from __future__ import annotations

import pytest

from flowproof_runner.drivers.base import Addresses
from flowproof_runner.drivers.environment import PLACEHOLDER, build

HERE = Addresses("http://127.0.0.1:9", {"my-files": "http://127.0.0.1:8/mcp"}, {"my-files": "stand-in my-files"})


@pytest.mark.parametrize(
    "variable, value",
    [
        ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
        ("OPENAI_API_BASE", "http://127.0.0.1:9/v1"),
        ("OPENAI_BASE", "http://127.0.0.1:9/v1"),
        ("FLOWPROOF_LLM_PROXY", "http://127.0.0.1:9/v1"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
        ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9"),
        ("GEMINI_API_BASE", "http://127.0.0.1:9"),
        ("OLLAMA_HOST", "http://127.0.0.1:9"),
        ("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:9/v1"),
        ("OPENAI_API_KEY", PLACEHOLDER),
        ("ANTHROPIC_API_KEY", PLACEHOLDER),
        ("GEMINI_API_KEY", PLACEHOLDER),
        ("FLOWPROOF_PROMPT", "Hello\nthere"),
        ("FLOWPROOF_MCP_URL_MY_FILES", "http://127.0.0.1:8/mcp"),
        ("FLOWPROOF_MCP_SERVER_MY_FILES", "stand-in my-files"),
        ("OPENAI_AGENTS_DISABLE_TRACING", "1"),
    ],
)
def test_every_variable_that_sdks_read_points_at_the_boundary(variable: str, value: str) -> None:
    assert (
        build({variable: "from the shell"} if variable.endswith("URL") else {}, HERE, "Hello\nthere")[variable] == value
    )


@pytest.mark.parametrize(
    "shell, expected",
    [
        ({}, "127.0.0.1,localhost,::1"),
        ({"NO_PROXY": "intranet, 127.0.0.1"}, "intranet,127.0.0.1,localhost,::1"),
        ({"NO_PROXY": "a", "no_proxy": "b"}, "a,b,127.0.0.1,localhost,::1"),
    ],
)
def test_loopback_is_added_to_the_hosts_no_proxy_is_used_for(shell: dict[str, str], expected: str) -> None:
    env = build(shell, HERE, "")
    assert (env["NO_PROXY"], env["no_proxy"]) == (expected, expected)


@pytest.mark.parametrize(
    "variable", ["FLOWPROOF_AGENT_KEY", "FLOWPROOF_AGENT_UPSTREAM", "ANTHROPIC_AUTH_TOKEN", "MISTRAL_API_KEY"]
)
def test_no_upstream_credential_reaches_the_agent(variable: str) -> None:
    assert "sk-real" not in build({variable: "sk-real"}, HERE, "", key_variables=("MISTRAL_API_KEY",)).values()


def test_a_key_in_the_shell_is_replaced_by_a_placeholder() -> None:
    assert build({"OPENAI_API_KEY": "sk-real"}, HERE, "")["OPENAI_API_KEY"] == PLACEHOLDER


def test_what_the_spec_sets_wins_over_everything_injected() -> None:
    env = build({}, HERE, "", overrides={"OPENAI_BASE_URL": "http://elsewhere", "NO_PROXY": ""})
    assert (env["OPENAI_BASE_URL"], env["NO_PROXY"]) == ("http://elsewhere", "")


def test_a_telemetry_choice_made_in_the_shell_is_kept() -> None:
    assert build({"AGNO_TELEMETRY": "true"}, HERE, "")["AGNO_TELEMETRY"] == "true"


def test_the_rest_of_the_shell_is_passed_on() -> None:
    assert build({"HOME": "/home/me"}, HERE, "")["HOME"] == "/home/me"


def test_copilot_in_anthropic_mode_appends_the_version_itself() -> None:
    assert build({"COPILOT_PROVIDER_TYPE": "anthropic"}, HERE, "")["COPILOT_PROVIDER_BASE_URL"] == HERE.url
