"""Asks a real server what it offers, in whichever protocol era it speaks."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers.mcp_client import PROTOCOL, Client, McpFailure, Wire
from flowproof_runner.drivers.mcp_http import HttpWire
from flowproof_runner.drivers.mcp_stdio import StdioWire
from flowproof_runner.surface.surface import Surface, surface

MODERN = "2026-07-28"
_PAGES = 1000
_CAPABILITIES: dict[str, JsonValue] = {"sampling": {}, "elicitation": {}, "roots": {"listChanged": True}}
"""All there are: some servers show more to clients that can do more."""
_INFO: dict[str, JsonValue] = {"name": "flowproof", "version": "1"}


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked: a command, or a URL."""

    words: tuple[str, ...]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = 10.0

    @property
    def name(self) -> str:
        """As it is named in errors."""
        return " ".join(self.words)

    def connect(self, protocol: str) -> Wire:
        """Start or reach it. Raises McpFailure."""
        if len(self.words) == 1 and self.words[0].startswith(("http://", "https://")):
            return HttpWire(self.name, self.words[0], {**self.headers, "MCP-Protocol-Version": protocol})
        return StdioWire(self.name, self.words, Path.cwd(), os.environ, None)


def inspect(target: Target) -> Surface:
    """The server's surface. Raises McpFailure if it does not answer, or speaks no protocol known here."""
    try:
        return _asked(target, PROTOCOL)
    except McpFailure as first:
        try:
            return _asked(target, MODERN)
        except McpFailure:
            raise first from None


def inspect_both(target: Target) -> Surface:
    """The same, with what the server tells clients of the other era: it may be something else. It is asked twice."""
    found = inspect(target)
    try:
        modern = _discovered(target)
    except McpFailure:
        return found
    return replace(found, discovered=modern.get("capabilities"))


def _discovered(target: Target) -> Mapping[str, JsonValue]:
    client = Client(target.connect(MODERN), target.name)
    try:
        return client.call("server/discover", _modern({}), time.monotonic() + target.timeout_s)
    finally:
        client.wire.close()


def _asked(target: Target, protocol: str) -> Surface:
    deadline = time.monotonic() + target.timeout_s
    client = Client(target.connect(protocol), target.name)
    try:
        if protocol == MODERN:
            opening = client.call("server/discover", _modern({}), deadline)
        else:
            params: dict[str, JsonValue] = {
                "protocolVersion": protocol,
                "capabilities": _CAPABILITIES,
                "clientInfo": _INFO,
            }
            opening = client.call("initialize", params, deadline)
            client.wire.notify({"jsonrpc": "2.0", "method": "notifications/initialized"})
        spoken = opening.get("protocolVersion")

        def listed(method: str, member: str) -> tuple[JsonValue, ...]:
            return _pages(client, method, member, deadline, modern=protocol == MODERN)

        return surface(opening, spoken if isinstance(spoken, str) else protocol, listed)
    finally:
        client.wire.close()


def _pages(client: Client, method: str, member: str, deadline: float, *, modern: bool) -> tuple[JsonValue, ...]:
    found: list[JsonValue] = []
    cursor: JsonValue = None
    for _ in range(_PAGES):
        params: dict[str, JsonValue] = {} if cursor is None else {"cursor": cursor}
        page = client.call(method, _modern(params) if modern else params, deadline)
        items = page.get(member)
        found += items if isinstance(items, list) else []
        cursor = page.get("nextCursor")
        if cursor is None:
            return tuple(found)
    raise McpFailure(f"{client.server!r} answers {method} without end")


def _modern(params: dict[str, JsonValue]) -> dict[str, JsonValue]:
    meta: dict[str, JsonValue] = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": _INFO,
        "io.modelcontextprotocol/clientCapabilities": _CAPABILITIES,
    }
    return {**params, "_meta": meta}
