"""Where a request goes at record: the fixed upstream of its dialect, with the agent's own path behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from flowproof_addons.errors import FlowproofError
from flowproof_addons.live.proxies import proxy

_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?(?=/|$)")
_VERSIONED_APIS = ("openai-", "anthropic-")
"""APIs whose every path starts with a version: one is added where neither the agent nor the upstream names it."""


class RouteError(FlowproofError):
    """An upstream URL that cannot be used."""


@dataclass(frozen=True, slots=True)
class Route:
    """One outgoing request's way."""

    scheme: str
    host: str
    port: int
    path: str
    """Without the query."""
    proxy: tuple[str, int] | None = None
    """The HTTP proxy to CONNECT through, where the environment asks for one."""

    @property
    def address(self) -> tuple[str, int]:
        """The address a connection for this route is opened to."""
        return self.proxy or (self.host, self.port)


def route(base: str, path: str, dialect: str | None, environment: Mapping[str, str]) -> Route:
    """Join the agent's path to the upstream's base URL.

    A version segment (`/v1`) both sides name appears once; a missing one is added for the APIs that always have it.

    Raises RouteError if `base` is no http(s) URL, ProxyError if the environment's proxy cannot be used.
    """
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RouteError(f"upstream {base!r} is not an http(s) URL; give one like 'https://api.example.com/v1'")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    joined = _join(parts.path.rstrip("/"), path, dialect)
    return Route(parts.scheme, parts.hostname, port, joined, proxy(parts.scheme, parts.hostname, port, environment))


def unreachable(origin: str, proxy: tuple[str, int] | None, reason: str) -> str:
    """What the user is told of a connection that failed, with what to look at."""
    through = f" through the proxy {proxy[0]}:{proxy[1]}" if proxy else ""
    words = f"the upstream {origin} cannot be reached{through}: {reason}"
    if "certificate" in reason.lower():
        return f"{words}; if its authority is one of your own, set SSL_CERT_FILE to the authority's certificate (PEM)"
    if proxy:
        return f"{words}; check HTTP_PROXY, HTTPS_PROXY and NO_PROXY, and that the proxy lets you through"
    return f"{words}; check FLOWPROOF_AGENT_UPSTREAM (or the provider's *_BASE_URL), and that the server is up"


def _join(prefix: str, path: str, dialect: str | None) -> str:
    own = _VERSION.match(path)
    while own and path.startswith(own[0] * 2):
        path = path[len(own[0]) :]
    prefixed = _VERSION.search(prefix)
    if prefixed and own and prefix.endswith(prefixed[0]):
        return prefix + path[len(own[0]) :]
    if not prefixed and not _VERSION.search(path) and dialect and dialect.startswith(_VERSIONED_APIS):
        return f"{prefix}/v1{path}"
    return prefix + path
