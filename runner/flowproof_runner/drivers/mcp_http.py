"""An MCP server behind a URL, over streamable HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from flowproof_runner.drivers.mcp_client import PROTOCOL, McpFailure, Message, message_of


class HttpWire:
    """A server behind a URL, streamable HTTP."""

    def __init__(self, server: str, url: str, headers: Mapping[str, str]) -> None:
        self.server = server
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise McpFailure(f"MCP server {server!r}: {url!r} is no http URL: {error}") from error
        if parts.scheme not in ("http", "https") or not host:
            raise McpFailure(f"MCP server {server!r}: {url!r} is no http URL")
        self._secure, self._host, self._port = parts.scheme == "https", host, port
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._headers = dict(headers)
        self._version = PROTOCOL
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
                yield from self._until(deadline, message, _events(response))
            else:
                found = message_of(response.read())
                if found is not None:
                    yield found
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

    def agree(self, version: str) -> None:
        """See Wire."""
        self._version = version

    def close(self) -> None:
        """See Wire."""
        if not self._session:
            return
        connection = self._open(1.0)
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("DELETE", self._path, headers=self._all_headers())
            connection.getresponse().read()
        connection.close()

    def _until(self, deadline: float, message: Message, found: Iterator[Message]) -> Iterator[Message]:
        """The messages of a stream, which may go on for ever where the time for each of them alone would do."""
        for each in found:
            yield each
            if time.monotonic() > deadline:
                raise McpFailure(f"MCP server {self.server!r} did not answer {message['method']} in time")

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
            "MCP-Protocol-Version": self._version,
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
            found = message_of(b"\n".join(data))
            data = []
            if found is not None:
                yield found
