"""Where a request goes at record."""

import pytest

from flowproof_addons.live.route import Route, RouteError, route, unreachable

OPENAI, ANTHROPIC, OLLAMA = "openai-chat", "anthropic-messages", "ollama-chat"


@pytest.mark.parametrize(
    ("base", "path", "dialect", "expected"),
    [
        pytest.param(
            "https://h/v1", "/v1/chat/completions", OPENAI, "/v1/chat/completions", id="both name the version"
        ),
        pytest.param("https://h", "/v1/chat/completions", OPENAI, "/v1/chat/completions", id="only the agent does"),
        pytest.param("https://h/v1", "/chat/completions", OPENAI, "/v1/chat/completions", id="only the upstream does"),
        pytest.param("https://h", "/messages", ANTHROPIC, "/v1/messages", id="neither does, the API needs it"),
        pytest.param("http://h", "/api/chat", OLLAMA, "/api/chat", id="neither does, the API has none"),
        pytest.param("https://h/v1", "/v1/v1/messages", ANTHROPIC, "/v1/messages", id="the agent doubles it"),
        pytest.param("http://h/llm/v1", "/v1/chat/completions", OPENAI, "/llm/v1/chat/completions", id="prefix kept"),
        pytest.param(
            "http://h/llm/", "/v1/responses", "openai-responses", "/llm/v1/responses", id="prefix, no version"
        ),
        pytest.param(
            "https://h/v1beta", "/v1/x:generateContent", "gemini", "/v1beta/x:generateContent", id="upstream's"
        ),
        pytest.param("https://h/v1", "/v1/models", None, "/v1/models", id="side call"),
    ],
)
def test_the_version_appears_once_and_prefixes_are_kept(base: str, path: str, dialect: str, expected: str) -> None:
    assert route(base, path, dialect, {}).path == expected


def test_scheme_host_and_port_come_from_the_upstream_alone() -> None:
    assert route("https://api.example:8443/v1", "/v1/x", None, {}) == Route("https", "api.example", 8443, "/v1/x")
    assert route("http://[::1]", "/v1/x", None, {}).address == ("::1", 80)


@pytest.mark.parametrize("base", ["", "api.example", "ftp://h", "https://"])
def test_an_unusable_upstream_is_named(base: str) -> None:
    with pytest.raises(RouteError, match=repr(base)):
        route(base, "/v1/x", None, {})


def test_a_route_leads_through_the_proxy() -> None:
    way = route("https://api.example/v1", "/v1/x", None, {"https_proxy": "http://p:1"})
    assert (way.host, way.proxy, way.address) == ("api.example", ("p", 1), ("p", 1))


@pytest.mark.parametrize(
    ("proxy", "reason", "advice"),
    [
        (None, "[Errno 111] Connect call failed", "FLOWPROOF_AGENT_UPSTREAM"),
        (
            ("p", 1),
            "[Errno 111] Connect call failed",
            "the proxy p:1: [Errno 111] Connect call failed; check HTTP_PROXY",
        ),
        (("p", 1), "Certificate verify failed: self-signed certificate", "SSL_CERT_FILE"),
    ],
)
def test_an_upstream_that_is_not_reached_is_told_with_what_to_look_at(
    proxy: tuple[str, int] | None, reason: str, advice: str
) -> None:
    told = unreachable("https://h:443", proxy, reason)
    assert "https://h:443" in told and reason in told and advice in told
