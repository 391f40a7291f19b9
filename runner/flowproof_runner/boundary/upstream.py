"""Where a recording's requests go, and with which key: read from the shell flowproof was started in."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.base import Dialect, Registry
from flowproof_addons.session import Upstream

UPSTREAM = "FLOWPROOF_AGENT_UPSTREAM"
KEY = "FLOWPROOF_AGENT_KEY"
AUTHORITIES = "SSL_CERT_FILE"
ANY = "*"
"""In a session's upstreams: all other dialects, and side calls."""

_PROVIDERS = {
    # Where each provider's own SDK goes when no base URL is set; used only with that provider's own key.
    "OPENAI_API_KEY": "https://api.openai.com/v1",
    "ANTHROPIC_API_KEY": "https://api.anthropic.com",
    "GEMINI_API_KEY": "https://generativelanguage.googleapis.com",
    "GOOGLE_API_KEY": "https://generativelanguage.googleapis.com",
}


class UpstreamError(FlowproofError):
    """No model to record from, or no key for it."""


@dataclass(frozen=True, slots=True)
class _Found:
    variable: str
    url: str


def upstreams(shell: Mapping[str, str], registry: Registry) -> dict[str, Upstream]:
    """Per dialect name its upstream; `*` where one serves all that is left.

    Raises UpstreamError, naming every variable that was looked at, if there is no upstream or no key.
    """
    found = {dialect.name: place for dialect in registry.dialects if (place := _place(shell, dialect))}
    if not found and not shell.get(UPSTREAM):
        raise _nowhere(registry)
    named = {name: _upstream(shell, registry.named(name), place) for name, place in found.items()}
    rest = _rest(shell, named)
    _require_key(named | rest, found, shell, registry)
    if any(upstream.url.startswith("https:") for upstream in (named | rest).values()):
        _require_authorities(shell.get(AUTHORITIES, ""))
    return named | rest


def key_variables(registry: Registry) -> tuple[str, ...]:
    """Every variable that may hold a provider's key."""
    return tuple(dict.fromkeys(name for dialect in registry.dialects for name in dialect.key_variables))


def secrets(shell: Mapping[str, str], registry: Registry) -> dict[str, str]:
    """The keys that are in the shell, by variable: they may never reach the disk."""
    return {name: shell[name] for name in (KEY, *key_variables(registry)) if shell.get(name)}


def _place(shell: Mapping[str, str], dialect: Dialect) -> _Found | None:
    for variable in (UPSTREAM, *dialect.base_url_variables):
        if shell.get(variable):
            return _Found(variable, _valid(variable, shell[variable]))
    for variable in dialect.key_variables:
        if shell.get(variable) and variable in _PROVIDERS:
            return _Found(variable, _PROVIDERS[variable])
    return None


def _upstream(shell: Mapping[str, str], dialect: Dialect | None, place: _Found) -> Upstream:
    variables = (KEY, *(dialect.key_variables if dialect else ()))
    return Upstream(url=place.url, key=next((shell[name] for name in variables if shell.get(name)), ""))


def _rest(shell: Mapping[str, str], named: Mapping[str, Upstream]) -> dict[str, Upstream]:
    """The upstream of what no dialect claims: the one there is. With several nothing is guessed."""
    if shell.get(UPSTREAM):
        url, key = _valid(UPSTREAM, shell[UPSTREAM]), shell.get(KEY, "")
        keys = {upstream.key for upstream in named.values() if upstream.key}
        return {ANY: Upstream(url=url, key=key or (keys.pop() if len(keys) == 1 else ""))}
    distinct = {(upstream.url, upstream.key) for upstream in named.values()}
    return {ANY: next(iter(named.values()))} if len(distinct) == 1 else {}


def _valid(variable: str, url: str) -> str:
    parts = _parts(url)
    if parts is None:
        raise UpstreamError(
            f"{variable}={_safe(url)!r} is not a base URL: give scheme, host and, where needed, port and path, as in"
            " https://api.openai.com/v1"
        )
    if parts.username is not None or parts.password is not None:
        raise UpstreamError(f"{variable} holds a user name or password: give the key in {KEY}")
    if parts.query or parts.fragment:
        raise UpstreamError(f"{variable} holds a query or fragment: give the base URL alone")
    return url.strip().rstrip("/")


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


def _safe(url: str) -> str:
    """Without what may be a credential."""
    return url.rpartition("@")[2].partition("?")[0]


def _require_key(
    ready: Mapping[str, Upstream], found: Mapping[str, _Found], shell: Mapping[str, str], registry: Registry
) -> None:
    if any(upstream.key for upstream in ready.values()):
        return
    if all(_is_loopback(upstream.url) for upstream in ready.values()):
        return  # a stand-in on this machine needs none
    source = next((place.variable for place in found.values()), UPSTREAM)
    raise UpstreamError(
        f"no key for the upstream in {source}: set {KEY}, or one of {', '.join(key_variables(registry))}"
        f" (any text will do if the upstream asks for none)"
    )


def _require_authorities(file: str) -> None:
    """mitmproxy would only say that a connection failed."""
    if not file:
        return
    import ssl  # only who records from https needs it

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError as error:  # SSLError is one: no certificate in it
        raise UpstreamError(
            f"{AUTHORITIES}={file!r} cannot be used: {error.strerror or error}; give a PEM file that holds the"
            " certificates of the authorities to trust, or unset it"
        ) from error


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _nowhere(registry: Registry) -> UpstreamError:
    urls = dict.fromkeys(name for dialect in registry.dialects for name in dialect.base_url_variables)
    return UpstreamError(
        f"no model to record from: set {UPSTREAM} to its base URL and {KEY} to its key, or the provider's own"
        f" variables ({', '.join((*urls, *key_variables(registry)))})"
    )
