"""MCP over streamable HTTP, spoken to servers that answer in their own ways."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers.mcp_client import Client, McpFailure, Message
from flowproof_runner.drivers.mcp_http import HttpWire

VERSION = "2025-06-18"


class Handler(BaseHTTPRequestHandler):
    """A server of an older version that is strict about it, keeps a session and streams what it is told to stream."""

    streamed: list[Message]
    gap_s = 0.0
    heard: list[str]

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.heard.append(message["method"])
        if message["method"] == "initialize":
            self._json(200, message, {"protocolVersion": VERSION, "capabilities": {"tools": {}}})
        elif self.headers["MCP-Protocol-Version"] != VERSION or self.headers["Mcp-Session-Id"] != "s1":
            self._json(400, message, None)
        elif "id" not in message:
            self._json(202, message, None)
        elif self.streamed:
            self._stream()
        else:
            self._json(200, message, {"tools": []})

    def do_DELETE(self) -> None:
        self.heard.append("DELETE")
        self._json(200, {}, None)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _json(self, status: int, message: Message, result: JsonValue) -> None:
        body = b"" if result is None else json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        self.send_response(status)
        self.send_header("Mcp-Session-Id", "s1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        with contextlib.suppress(OSError):  # the client has heard enough
            self._events()

    def _events(self) -> None:
        for message in self.streamed:
            self.wfile.write(b": hello\nid: 1\nevent: message\ndata: " + json.dumps(message).encode() + b"\r\n\r\n")
            self.wfile.flush()
            time.sleep(self.gap_s)


@pytest.fixture
def connected() -> Iterator[Callable[..., tuple[Client, list[str]]]]:
    """A client that has said hello to a server which streams these messages."""
    running: list[ThreadingHTTPServer] = []

    def connect(*streamed: Message, gap_s: float = 0.0) -> tuple[Client, list[str]]:
        heard: list[str] = []
        handler = type("H", (Handler,), {"streamed": list(streamed), "gap_s": gap_s, "heard": heard})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        running.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        client = Client(HttpWire("web", f"http://127.0.0.1:{server.server_port}?k=1", {}), "web")
        client.initialize(time.monotonic() + 60)
        return client, heard

    yield connect
    for server in running:
        server.shutdown()
        server.server_close()


def test_the_version_the_server_chose_and_its_session_are_said_with_every_request(
    connected: Callable[..., tuple[Client, list[str]]],
) -> None:
    client, heard = connected()
    assert client.tools(time.monotonic() + 60) == ()
    client.wire.close()
    assert heard == ["initialize", "notifications/initialized", "tools/list", "DELETE"]


def test_a_stream_is_read_up_to_the_answer(connected: Callable[..., tuple[Client, list[str]]]) -> None:
    note: Message = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
    answer: Message = {"jsonrpc": "2.0", "id": 2, "result": {"ok": True}}
    client, _ = connected(note, answer)
    assert client.call("tools/call", {}, time.monotonic() + 60) == {"ok": True}


def test_a_stream_that_goes_on_without_an_answer_ends_at_the_deadline(
    connected: Callable[..., tuple[Client, list[str]]],
) -> None:
    note: Message = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
    client, _ = connected(*[note] * 100, gap_s=0.05)
    started = time.monotonic()
    with pytest.raises(McpFailure, match="did not answer tools/call in time"):
        client.call("tools/call", {}, started + 0.3)
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("url", ["file:///etc", "http://", "http://h:port/", "shop"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(McpFailure, match="is no http URL"):
        HttpWire("web", url, {})
