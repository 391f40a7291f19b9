"""The names one MCP tool goes by: clients qualify them each in their own way."""

from __future__ import annotations

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
