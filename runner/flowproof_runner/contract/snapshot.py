"""An MCP server's catalogue, kept to be compared with later ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers.backend import BackendContext
from flowproof_runner.drivers.mcp_backend import McpBackend, StdioServer
from flowproof_runner.program import writing
from flowproof_runner.surface.canonical import canonical_tool


def snapshot(path: Path, command: tuple[str, ...], timeout_s: float) -> int:
    """Ask a stdio server what it offers and write it; the number of tools. Raises FlowproofError."""
    server = StdioServer("server", command, Path.cwd(), os.environ, startup_s=timeout_s)
    backend = McpBackend((server,))
    try:
        [found] = backend.start(BackendContext("snapshot", timeout_s=timeout_s))
    finally:
        backend.close()
    tools: list[JsonValue] = sorted(map(canonical_tool, found.tools), key=json.dumps)
    content: dict[str, JsonValue] = {"capabilities": found.capabilities, "tools": tools}
    writing.write_json(path, content)
    return len(tools)
