"""The proxy a recording goes through, and its password."""

import base64

import pytest

from flowproof_addons.live.proxies import ProxyError, authorization, proxy


@pytest.mark.parametrize(
    ("environment", "expected"),
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
def test_proxy_variables_are_honoured(environment: dict[str, str], expected: tuple[str, int] | None) -> None:
    assert proxy("https", "api.example", 443, environment) == expected


def test_a_user_name_is_for_its_own_proxy_only() -> None:
    shell = {"HTTPS_PROXY": "http://me:a%40b@p:3128", "HTTP_PROXY": "http://q"}
    assert proxy("https", "api.example", 443, shell) == ("p", 3128)
    word = authorization(("p", 3128), shell)
    assert word is not None
    assert base64.b64decode(word.removeprefix("Basic ")) == b"me:a@b"
    assert authorization(("q", 80), shell) is None
    assert authorization(("api.example", 443), shell) is None


@pytest.mark.parametrize(
    "url", ["socks5://p:1080", "https://p", "http://", "http://p:port", "http://me:secret@p:99999"]
)
def test_what_is_no_http_proxy_is_refused_by_name_and_without_its_password(url: str) -> None:
    with pytest.raises(ProxyError, match="HTTPS_PROXY") as caught:
        proxy("https", "h", 443, {"https_proxy": url})
    assert "secret" not in str(caught.value)
