"""MCP servers as a backend: any transport, several at once, fixtures in front of them where the spec has some."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers.backend import Answer, BackendContext, Discovery, NoSuchTool
from flowproof_runner.drivers.fixtures import Fixtures
from flowproof_runner.drivers.mcp_client import Answering, Client, McpFailure, Wire
from flowproof_runner.drivers.mcp_http import HttpWire
from flowproof_runner.drivers.mcp_stdio import StdioWire
from flowproof_runner.evidence.names import routes


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A server started as a child."""

    name: str
    words: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    startup_s: float = 5.0
    call_s: float = 60.0
    log: Path | None = None

    def connect(self) -> Wire:
        """Start it. Raises McpFailure."""
        return StdioWire(self.name, self.words, self.cwd, self.env, self.log)


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server that runs already."""

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    startup_s: float = 5.0
    call_s: float = 60.0

    def connect(self) -> Wire:
        """Prepare to reach it. Raises McpFailure if the URL is none."""
        return HttpWire(self.name, self.url, self.headers)


type Server = StdioServer | HttpServer


@dataclass
class McpBackend:
    """Routes each call to the server that offers the tool."""

    servers: Sequence[Server]
    answering: Answering | None = None
    """Answers elicitation and other requests of the servers."""
    _open: dict[str, tuple[Server, Client]] = field(default_factory=dict)
    _routes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    _ends: float = float("inf")
    """When the run ends, whatever a call has left; on the clock of `time.monotonic`."""

    def start(self, context: BackendContext) -> Sequence[Discovery]:
        """Connect to every server and read its catalogue. Raises McpFailure."""
        found = []
        self._ends = time.monotonic() + context.timeout_s
        for server in self.servers:
            started = time.monotonic()
            deadline = min(started + server.startup_s, self._ends)
            client = Client(server.connect(), server.name, self.answering)
            self._open[server.name] = server, client
            capabilities = client.initialize(deadline)
            tools = client.tools(deadline)
            found.append(Discovery(server.name, capabilities, tools, (time.monotonic() - started) * 1000))
        self._routes = routes((each.server, each.tools) for each in found)
        return found

    def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Answer:
        """Call the tool. Raises NoSuchTool, McpFailure."""
        if tool not in self._routes:
            known = ", ".join(sorted(self._routes)) or "none"
            raise NoSuchTool(f"the agent called {tool!r}, which no MCP server offers; offered: {known}")
        of, name = self._routes[tool]
        server, client = self._open[of]
        started = time.monotonic()
        deadline = min(started + server.call_s, self._ends)
        result = client.call("tools/call", {"name": name, "arguments": dict(arguments)}, deadline)
        took = (time.monotonic() - started) * 1000
        size = len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
        value = unwrapped(result)
        is_error = result.get("isError") is True
        return Answer(value, is_error=is_error, source="mcp", server=server.name, duration_ms=took, size_bytes=size)

    def close(self) -> None:
        """End every connection, and raise the first failure after all were tried."""
        failures = []
        for _, client in self._open.values():
            try:
                client.wire.close()
            except McpFailure as error:
                failures.append(error)
        self._open.clear()
        if failures:
            raise failures[0]


@dataclass
class Mixed:
    """Fixtures for the tools that have some, another backend for the rest."""

    fixtures: Fixtures
    rest: McpBackend

    def start(self, context: BackendContext) -> Sequence[Discovery]:
        """Start both."""
        self.fixtures.start(context)
        return self.rest.start(context)

    def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Answer:
        """A fixture where there is one."""
        return (self.fixtures if tool in self.fixtures.cases else self.rest).call(tool, arguments)

    def close(self) -> None:
        """Close what was opened."""
        self.rest.close()


def unwrapped(result: Mapping[str, JsonValue]) -> JsonValue:
    """A tool result as data, where the envelope says nothing else; an error keeps its envelope."""
    content, structured = result.get("content"), result.get("structuredContent")
    if result.get("isError") is True or result.keys() - {"content", "structuredContent", "isError"}:
        return dict(result)
    text = _only_text(content)
    if text is None:
        return structured if structured is not None and not content else dict(result)
    parsed = _parsed(text)
    if structured is None:
        return parsed
    return structured if parsed == structured else dict(result)


def _only_text(content: JsonValue) -> str | None:
    if not isinstance(content, list) or len(content) != 1 or not isinstance(block := content[0], dict):
        return None
    text = block.get("text")
    return text if block.keys() == {"type", "text"} and block["type"] == "text" and isinstance(text, str) else None


def _parsed(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value
