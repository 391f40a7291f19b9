"""One MCP connection as a client sees it: JSON-RPC over a child's pipes or over streamable HTTP.

Written here rather than taken from the SDK because its typed models drop what they do not know, and because latency
and size are measured on what was really sent. https://modelcontextprotocol.io/specification/2025-11-25 (2026-12-02)
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import queue
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Protocol
from urllib.parse import urlsplit

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers import tree
from flowproof_runner.drivers.backend import BackendError
from flowproof_runner.drivers.command import MARK

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


class StdioWire:
    """A server as a child process, one JSON message a line."""

    def __init__(
        self, server: str, words: tuple[str, ...], cwd: Path, env: Mapping[str, str], log: Path | None
    ) -> None:
        self.server = server
        self._mark = f"{MARK}={secrets.token_hex(8)}"
        self._ended = Event()
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        tree.adopt_orphans()
        with open(log or os.devnull, "ab") as errors:
            try:
                self._process = subprocess.Popen(
                    words,
                    cwd=cwd,
                    env={**env, MARK: self._mark.partition("=")[2]},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise McpFailure(f"MCP server {server!r} cannot be started: {words[0]!r}: {error}") from error
        Thread(target=self._read, name=f"mcp-{server}", daemon=True).start()
        Thread(target=self._wait, daemon=True).start()

    def request(self, message: Message, deadline: float) -> Iterator[Message]:
        """See Wire."""
        self.notify(message)
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise McpFailure(f"MCP server {self.server!r} did not answer {message['method']} in time") from None
            if line is None:
                return
            parsed = _object(line)
            if parsed is not None:
                yield parsed

    def notify(self, message: Message) -> None:
        """See Wire."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise McpFailure(f"MCP server {self.server!r} ended") from error

    def close(self) -> None:
        """See Wire."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._ended.wait(0.2)
        tree.end(self._process.pid, self._mark, 0.5, self._ended)
        self._ended.wait(1.0)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as out:
            for line in out:
                self._lines.put(line)
        self._lines.put(None)

    def _wait(self) -> None:
        self._process.wait()
        self._ended.set()


class HttpWire:
    """A server behind a URL, streamable HTTP."""

    def __init__(self, server: str, url: str, headers: Mapping[str, str]) -> None:
        self.server = server
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise McpFailure(f"MCP server {server!r}: {url!r} is no http URL")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._path = parts.path + (f"?{parts.query}" if parts.query else "") or "/"
        self._headers = dict(headers)
        self._session = ""

    def request(self, message: Message, deadline: float) -> Iterator[Message]:
        """See Wire."""
        connection = self._open(max(0.05, deadline - time.monotonic()))
        try:
            response = self._post(connection, message)
            self._session = response.getheader("Mcp-Session-Id") or self._session
            if response.status >= 400:
                raise McpFailure(f"MCP server {self.server!r} answered {message['method']} with HTTP {response.status}")
            if "text/event-stream" in (response.getheader("Content-Type") or ""):
                yield from _events(response)
            else:
                parsed = _object(response.read())
                if parsed is not None:
                    yield parsed
        except (OSError, http.client.HTTPException) as error:
            raise McpFailure(f"MCP server {self.server!r} failed at {message['method']}: {error}") from error
        finally:
            connection.close()

    def notify(self, message: Message) -> None:
        """See Wire."""
        connection = self._open(5.0)
        try:
            self._post(connection, message).read()
        except (OSError, http.client.HTTPException) as error:
            raise McpFailure(f"MCP server {self.server!r} cannot be reached: {error}") from error
        finally:
            connection.close()

    def close(self) -> None:
        """See Wire."""
        if not self._session:
            return
        connection = self._open(1.0)
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("DELETE", self._path, headers=self._all_headers())
            connection.getresponse().read()
        connection.close()

    def _open(self, timeout_s: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=timeout_s)

    def _post(self, connection: http.client.HTTPConnection, message: Message) -> http.client.HTTPResponse:
        connection.request("POST", self._path, json.dumps(message).encode(), self._all_headers())
        return connection.getresponse()

    def _all_headers(self) -> dict[str, str]:
        own = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL,
        }
        session = {"Mcp-Session-Id": self._session} if self._session else {}
        return {**own, **self._headers, **session}


def _events(response: http.client.HTTPResponse) -> Iterator[Message]:
    """JSON messages of an event stream; other fields than data mean nothing to a client that does not resume."""
    data: list[bytes] = []
    for line in response:
        text = line.rstrip(b"\r\n")
        if text.startswith(b"data:"):
            data.append(text[5:].strip())
        elif not text and data:
            parsed = _object(b"\n".join(data))
            data = []
            if parsed is not None:
                yield parsed


def _object(data: bytes) -> Message | None:
    """A JSON object; servers that log to stdout are borne with."""
    with contextlib.suppress(ValueError):
        value = json.loads(data)
        if isinstance(value, dict):
            return value
    return None
