"""The names one MCP tool goes by: clients qualify them each in their own way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import Discovered, Evidence

_SEPARATORS = (".", "/", "__")
_CLIENT_PREFIX = "mcp__"


def aliases(lane: str, tool: str) -> frozenset[str]:
    """Every name that means this tool: `delete`, `fs.delete`, `fs/delete`, `fs__delete`, `mcp__fs__delete`."""
    qualified = {f"{lane}{separator}{tool}" for separator in _SEPARATORS}
    return frozenset({tool, f"{_CLIENT_PREFIX}{lane}__{tool}", *qualified})


def named(tool: str, lane: str | None) -> frozenset[str]:
    """Every name of a tool the model asked for, whose server may be known. `mcp__fs__delete` says its own server."""
    if lane is not None:
        return aliases(lane, bare(tool, lane)) | {tool}
    server, separator, inner = tool.removeprefix(_CLIENT_PREFIX).partition("__")
    if tool.startswith(_CLIENT_PREFIX) and separator and inner:
        return aliases(server, inner)
    return frozenset({tool})


def bare(tool: str, lane: str) -> str:
    """The tool's own name, without the server's that a client put before it."""
    for prefix in (f"{_CLIENT_PREFIX}{lane}__", *(f"{lane}{separator}" for separator in _SEPARATORS)):
        if tool.startswith(prefix) and tool != prefix:
            return tool.removeprefix(prefix)
    return tool


def routes(catalogues: Iterable[tuple[str, Iterable[JsonValue]]]) -> Mapping[str, tuple[str, str]]:
    """Every name under which an adapter reaches a tool of these servers -> the server and the tool's own name.

    A name that several could mean is the first one's.
    """
    found: dict[str, tuple[str, str]] = {}
    for server, tools in catalogues:
        for tool in tools:
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str):
                for alias in aliases(server, name):
                    found.setdefault(alias, (server, name))
    return found


def reached(evidence: Evidence) -> Mapping[str, frozenset[str]]:
    """A name an adapter calls -> every name of the tool it reaches, as far as its servers said what they offer."""
    offered = ((event.lane, event.tools) for event in evidence.of(Discovered))
    return {name: aliases(*tool) for name, tool in routes(offered).items()}
