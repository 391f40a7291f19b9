"""One MCP connection as a client sees it: requests in JSON-RPC, whatever carries them.

Written here rather than taken from the SDK because its typed models drop what they do not know, and because latency
and size are measured on what was really sent. https://modelcontextprotocol.io/specification/2025-11-25 (2026-12-02)
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers.backend import BackendError

PROTOCOL = "2025-11-25"

type Message = dict[str, JsonValue]
type Answering = Callable[[str, JsonValue], JsonValue | None]
"""(method, params) of a server's own request -> its result, None: we do not do that."""


class McpFailure(BackendError):
    """A server broke the protocol, answered with a protocol error, or not in time."""


class Wire(Protocol):
    """Sends one message and gives what comes back."""

    def request(self, message: Message, deadline: float) -> Iterator[Message]:
        """Messages until (and with) the answer. Raises McpFailure."""
        ...

    def notify(self, message: Message) -> None:
        """Send without waiting for anything."""
        ...

    def agree(self, version: str) -> None:
        """Speak this version of the protocol from now on."""
        ...

    def close(self) -> None:
        """End the connection and whatever was started for it."""
        ...


@dataclass
class Client:
    """The requests of one connection."""

    wire: Wire
    server: str
    answering: Answering | None = None
    """Answers the server's own requests; None: it is told that nobody here can be asked."""
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def initialize(self, deadline: float) -> JsonValue:
        """Open the session; what the server says it can do. Raises McpFailure."""
        result = self.call(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "capabilities": {} if self.answering is None else {"elicitation": {}},
                "clientInfo": {"name": "flowproof", "version": "1"},
            },
            deadline,
        )
        self.wire.agree(str(result.get("protocolVersion", PROTOCOL)))
        self.wire.notify({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result.get("capabilities", {})

    def tools(self, deadline: float) -> tuple[JsonValue, ...]:
        """Every page of the catalogue. Raises McpFailure."""
        found: list[JsonValue] = []
        cursor: JsonValue = None
        for _ in range(1000):
            page = self.call("tools/list", {} if cursor is None else {"cursor": cursor}, deadline)
            tools = page.get("tools")
            found += tools if isinstance(tools, list) else []
            cursor = page.get("nextCursor")
            if cursor is None:
                return tuple(found)
        raise McpFailure(f"MCP server {self.server!r} lists its tools without end")

    def call(self, method: str, params: Message, deadline: float) -> Message:
        """One request and its result. Raises McpFailure on a protocol error or at the deadline."""
        id = next(self._ids)
        request: Message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        for message in self.wire.request(request, deadline):
            if "method" in message:
                self._serve(message)
            elif message.get("id") == id:
                return self._result(method, message)
        raise McpFailure(f"MCP server {self.server!r} ended without an answer to {method}")

    def _result(self, method: str, message: Message) -> Message:
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict):
            raise McpFailure(f"MCP server {self.server!r} refused {method}: {error.get('message')}")
        if not isinstance(result, dict):
            raise McpFailure(f"MCP server {self.server!r} answered {method} with no result")
        return result

    def _serve(self, message: Message) -> None:
        """Answer a request of the server's own; its notifications need none."""
        if "id" not in message:
            return
        method = str(message["method"])
        result: JsonValue = {} if method == "ping" else None
        if result is None and self.answering is not None:
            result = self.answering(method, message.get("params"))
        answer: Message = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            answer["error"] = {"code": -32601, "message": f"{method} is not supported"}
        else:
            answer["result"] = result
        self.wire.notify(answer)


def message_of(data: bytes) -> Message | None:
    """A JSON object; servers that log to stdout are borne with."""
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(data)
        if isinstance(value, dict):
            return value
    return None
