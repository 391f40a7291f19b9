"""Where a request goes at record: the fixed upstream of its dialect, with the agent's own path behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from flowproof_addons.errors import FlowproofError

_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?(?=/|$)")
_VERSIONED_APIS = ("openai-", "anthropic-")
"""APIs whose every path starts with a version: one is added where neither the agent nor the upstream names it."""


class RouteError(FlowproofError):
    """An upstream or proxy URL that cannot be used."""


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

    Raises RouteError if `base` is no http(s) URL.
    """
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RouteError(f"upstream {base!r} is not an http(s) URL; give one like 'https://api.example.com/v1'")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    joined = _join(parts.path.rstrip("/"), path, dialect)
    return Route(parts.scheme, parts.hostname, port, joined, _proxy(parts.scheme, parts.hostname, port, environment))


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


def _proxy(scheme: str, host: str, port: int, environment: Mapping[str, str]) -> tuple[str, int] | None:
    """HTTP(S)_PROXY / ALL_PROXY and NO_PROXY, lower case first, as curl and Python read them."""

    def read(name: str) -> str:
        return environment.get(name.lower()) or environment.get(name.upper()) or ""

    url = read(f"{scheme}_proxy") or read("all_proxy")
    if not url or _bypassed(host, port, read("no_proxy")):
        return None
    parts = urlsplit(url if "//" in url else f"http://{url}")
    if parts.scheme != "http" or not parts.hostname:
        raise RouteError(f"{scheme.upper()}_PROXY={url!r} is not usable: only http:// proxies are; unset it or use one")
    return parts.hostname, parts.port or 80


def _bypassed(host: str, port: int, no_proxy: str) -> bool:
    """NO_PROXY: `*`, hosts, domain suffixes with or without the dot, each with an optional port."""
    names = [name.strip().lower().lstrip(".") for name in no_proxy.split(",") if name.strip()]
    own = (host.lower(), f"{host.lower()}:{port}")
    return any(name == "*" or name in own or any(o.endswith("." + name) for o in own) for name in names)
