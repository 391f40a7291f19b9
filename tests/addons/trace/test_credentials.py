"""What counts as a credential."""

from pathlib import Path

import pytest

from flowproof_addons.trace.credentials import (
    HEADERS,
    QUERY_NAMES,
    SHAPES,
    SHORTEST_SHAPE,
    is_header,
    key_shapes,
    may_hold_key,
)

RANDOM = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"

KEYS = {
    "anthropic": f"sk-ant-api03-{RANDOM}",
    "openai": f"sk-proj-{RANDOM}",
    "google": "AIza" + RANDOM + "A",
    "google-oauth": f"ya29.{RANDOM}",
    "github": f"ghp_{RANDOM}aB",
    "gitlab": f"glpat-{RANDOM}",
    "slack": "xoxb-123456789012-abcdef",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "groq": "gsk_" + RANDOM * 2,
    "huggingface": "hf_" + "abcdefghijKLMNOPQRSTuvwxyzABCDEFGH",
    "xai": "xai-" + RANDOM * 2,
    "npm": "npm_" + RANDOM + "ab",
    "pypi": "pypi-AgEI" + RANDOM * 2,
    "jwt": f"eyJ{RANDOM}.eyJ{RANDOM}.{RANDOM}",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_is_known_by_its_looks_and_found_whole(kind: str) -> None:
    text = f'the key is "{KEYS[kind]}", keep it'
    assert may_hold_key(text)
    assert [(found, text[start:end]) for found, start, end in key_shapes(text)] == [(kind, KEYS[kind])]


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_no_shape_is_shorter_than_the_cheap_test_thinks(key: str) -> None:
    assert len(key) >= SHORTEST_SHAPE


@pytest.mark.parametrize(
    "text",
    [
        "task-oriented-planning-with-many-words-1",
        "sk-estimator-doc-link fitted sk-container-id-1",
        "see risk-assessment-2026-final-version-of-report",
        "AKIA is a prefix",
        "ghp_short",
        "hf_hub_download(repo_id='x')",
        "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
        "eyJhbGciOiJIUzI1NiJ9",
        "npm_config_registry",
    ],
)
def test_words_that_begin_like_a_key_are_left_alone(text: str) -> None:
    assert list(key_shapes(text)) == []


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "x-api-key",
        "API-KEY",
        "x-goog-api-key",
        "xi-api-key",
        "Cookie",
        "Set-Cookie",
        "proxy-authorization",
        "x-corp-auth-token",
    ],
)
def test_credential_headers(name: str) -> None:
    assert is_header(name)


@pytest.mark.parametrize(
    "name", ["content-type", "openai-organization", "x-ratelimit-limit-tokens", "anthropic-version", "x-session-id"]
)
def test_other_headers(name: str) -> None:
    assert not is_header(name)


@pytest.mark.parametrize("text", ["sk-" * 30_000, "-eyJ" * 30_000, "-----BEGIN " * 30_000, "sk-ant-" * 30_000])
def test_hostile_text_costs_no_more_than_its_length(text: str) -> None:
    """Quadratic search would take minutes here."""
    assert list(key_shapes(text)) == []


SECURITY = Path(__file__).parents[3] / "docs" / "security.md"


@pytest.mark.parametrize("word", sorted({*HEADERS, *QUERY_NAMES, *(p.strip() for s in SHAPES for p in s.prefixes)}))
def test_what_is_taken_for_a_credential_is_documented(word: str) -> None:
    assert f"`{word}" in SECURITY.read_text(encoding="utf-8")
