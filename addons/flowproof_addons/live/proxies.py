"""The HTTP proxy a recording goes through, as the shell's variables say."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from flowproof_addons.errors import FlowproofError


class ProxyError(FlowproofError):
    """A proxy variable that cannot be used."""


def proxy(scheme: str, host: str, port: int, environment: Mapping[str, str]) -> tuple[str, int] | None:
    """The address to CONNECT through: HTTP(S)_PROXY / ALL_PROXY and NO_PROXY, lower case first, as curl reads them.

    Raises ProxyError if it is no http:// proxy.
    """
    if _bypassed(host, port, _read(environment, "no_proxy")):
        return None
    found = next(_proxies(environment, f"{scheme}_proxy", "all_proxy"), None)
    return None if found is None else (found.hostname or "", found.port or 80)


def authorization(address: tuple[str, int], environment: Mapping[str, str]) -> str | None:
    """The `Proxy-Authorization` of the proxy at this address, where its variable holds a user name."""
    for parts in _proxies(environment, "https_proxy", "http_proxy", "all_proxy"):
        if (parts.hostname, parts.port or 80) == address and parts.username is not None:
            user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            return f"Basic {base64.b64encode(user.encode()).decode()}"
    return None


def _proxies(environment: Mapping[str, str], *names: str) -> Iterator[SplitResult]:
    for name in names:
        if url := _read(environment, name):
            yield _parts(name.upper(), url)


def _read(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name) or environment.get(name.upper()) or ""


def _parts(variable: str, url: str) -> SplitResult:
    try:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme == "http" and parts.hostname and parts.port != 0:
            return parts
    except ValueError:  # a port that is no number
        pass
    scheme, slashes, rest = url.rpartition("//")
    shown = scheme + slashes + rest.rpartition("@")[2]  # without what may be a password
    raise ProxyError(
        f"{variable}={shown!r} is not usable: only proxies like http://proxy.example:3128 are; correct or unset it"
    )


def _bypassed(host: str, port: int, no_proxy: str) -> bool:
    """NO_PROXY: `*`, hosts, domain suffixes with or without the dot, each with an optional port."""
    names = [name.strip().lower().lstrip(".") for name in no_proxy.split(",") if name.strip()]
    own = (host.lower(), f"{host.lower()}:{port}")
    return any(name == "*" or name in own or any(o.endswith("." + name) for o in own) for name in names)
