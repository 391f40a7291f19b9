"""Where a recording goes is read from the shell, and what is missing is named."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from flowproof_addons.dialects.base import Registry
from flowproof_addons.dialects.registry import default
from flowproof_addons.session import Upstream
from flowproof_runner.boundary.upstream import UpstreamError, secrets, upstreams


@pytest.fixture(scope="module")
def registry() -> Registry:
    return default()


@dataclass(frozen=True)
class Case:
    id: str
    shell: dict[str, str]
    dialect: str
    expected: Upstream | None


def at(url: str, key: str = "") -> Upstream:
    return Upstream(url=url, key=key)


GATEWAY = {"FLOWPROOF_AGENT_UPSTREAM": "https://gateway.example/llm/v1/"}

CASES = [
    Case("ours", GATEWAY | {"FLOWPROOF_AGENT_KEY": "k"}, "openai-chat", at("https://gateway.example/llm/v1", "k")),
    Case(
        "ours, provider's key",
        GATEWAY | {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"},
        "anthropic-messages",
        at("https://gateway.example/llm/v1", "a"),
    ),
    Case(
        "our key wins",
        GATEWAY | {"FLOWPROOF_AGENT_KEY": "k", "OPENAI_API_KEY": "o"},
        "openai-chat",
        at("https://gateway.example/llm/v1", "k"),
    ),
    Case(
        "provider's variable",
        {"OPENAI_BASE_URL": "https://o.example/v1", "OPENAI_API_KEY": "o"},
        "openai-responses",
        at("https://o.example/v1", "o"),
    ),
    Case(
        "only for its own dialect",
        {"OPENAI_BASE_URL": "https://o.example/v1", "OPENAI_API_KEY": "o"},
        "anthropic-messages",
        None,
    ),
    Case(
        "a key alone means the provider",
        {"ANTHROPIC_API_KEY": "a"},
        "anthropic-messages",
        at("https://api.anthropic.com", "a"),
    ),
    Case(
        "our key is not sent to a guessed provider",
        {"FLOWPROOF_AGENT_KEY": "k", "OPENAI_BASE_URL": "https://o.example"},
        "anthropic-messages",
        None,
    ),
    Case(
        "a stand-in needs no key",
        {"OPENAI_BASE_URL": "http://127.0.0.1:8080"},
        "openai-chat",
        at("http://127.0.0.1:8080"),
    ),
    Case(
        "side calls go to the only upstream",
        {"OPENAI_BASE_URL": "https://o.example/v1", "OPENAI_API_KEY": "o"},
        "*",
        at("https://o.example/v1", "o"),
    ),
    Case("side calls with two upstreams are not guessed", {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}, "*", None),
    Case(
        "side calls go to ours", GATEWAY | {"FLOWPROOF_AGENT_KEY": "k"}, "*", at("https://gateway.example/llm/v1", "k")
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_each_dialect_finds_its_upstream(registry: Registry, case: Case) -> None:
    assert upstreams(case.shell, registry).get(case.dialect) == case.expected


def test_no_upstream_names_every_variable(registry: Registry) -> None:
    with pytest.raises(UpstreamError) as caught:
        upstreams({}, registry)
    for name in ("FLOWPROOF_AGENT_UPSTREAM", "FLOWPROOF_AGENT_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        assert name in str(caught.value)


@pytest.mark.parametrize("shell", [GATEWAY, {"OPENAI_BASE_URL": "https://o.example/v1"}])
def test_no_key_for_a_remote_upstream_is_an_error(registry: Registry, shell: dict[str, str]) -> None:
    with pytest.raises(UpstreamError, match=f"no key for the upstream in {next(iter(shell))}: set FLOWPROOF_AGENT_KEY"):
        upstreams(shell, registry)


@pytest.mark.parametrize(
    "url, message",
    [
        ("gateway.example", "is not a base URL"),
        ("ftp://gateway.example", "is not a base URL"),
        ("https://", "is not a base URL"),
        ("https://h:99999", "is not a base URL"),
        ("https://[::1", "is not a base URL"),
        ("https://user:hunter2@h/v1", "holds a user name or password"),
        ("https://h/v1?key=hunter2", "holds a query"),
    ],
)
def test_a_wrong_upstream_is_named_without_its_secret(registry: Registry, url: str, message: str) -> None:
    with pytest.raises(UpstreamError, match=message) as caught:
        upstreams({"FLOWPROOF_AGENT_UPSTREAM": url, "FLOWPROOF_AGENT_KEY": "k"}, registry)
    assert "hunter2" not in str(caught.value)


def test_every_key_in_the_shell_is_a_secret(registry: Registry) -> None:
    shell = {"FLOWPROOF_AGENT_KEY": "k", "OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "", "HOME": "/"}
    assert secrets(shell, registry) == {"FLOWPROOF_AGENT_KEY": "k", "OPENAI_API_KEY": "o"}
