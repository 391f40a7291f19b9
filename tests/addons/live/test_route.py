"""Where a request goes at record."""

import pytest

from flowproof_addons.live.route import Route, RouteError, route

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


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({"HTTPS_PROXY": "http://proxy.example:3128"}, ("proxy.example", 3128)),
        ({"https_proxy": "proxy.example"}, ("proxy.example", 80)),
        ({"ALL_PROXY": "http://proxy.example:1"}, ("proxy.example", 1)),
        ({"HTTP_PROXY": "http://proxy.example:3128"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.example"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".example"}, None),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "*"}, None),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "api.example:443"}, None),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "other.example, pi.example"}, ("p", 1)),
    ],
)
def test_proxy_variables_are_honoured(environment: dict[str, str], proxy: tuple[str, int] | None) -> None:
    assert route("https://api.example/v1", "/v1/x", None, environment).proxy == proxy


@pytest.mark.parametrize("base", ["", "api.example", "ftp://h", "https://"])
def test_an_unusable_upstream_is_named(base: str) -> None:
    with pytest.raises(RouteError, match=repr(base)):
        route(base, "/v1/x", None, {})


def test_a_proxy_that_is_not_http_is_refused() -> None:
    with pytest.raises(RouteError, match="socks5"):
        route("https://h", "/v1/x", None, {"https_proxy": "socks5://p:1080"})
