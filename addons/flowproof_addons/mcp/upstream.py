"""A small HTTP/1.1 client on the event loop: how a recording reaches a real HTTP server, byte for byte."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import h11

from flowproof_addons.errors import FlowproofError

_CHUNK = 65536


class UpstreamError(FlowproofError):
    """A real MCP server cannot be reached, or broke the connection."""


@dataclass(slots=True, eq=False)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    h11: h11.Connection = field(default_factory=lambda: h11.Connection(h11.CLIENT))

    async def next_event(self) -> object:
        """An `h11` event, once there is one."""
        while (event := self.h11.next_event()) is h11.NEED_DATA:
            self.h11.receive_data(await self.reader.read(_CHUNK))
        return event


@dataclass(slots=True, eq=False)
class Response:
    """An answer whose body may still be arriving."""

    status: int
    headers: Mapping[str, str]
    _connection: _Connection
    _owner: Upstream
    _ended: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives. Raises UpstreamError if the server breaks off."""
        finished = False
        try:
            while True:
                event = await self._connection.next_event()
                if isinstance(event, h11.Data):
                    yield bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    finished = True
                    return
                else:
                    return
        except (OSError, h11.ProtocolError) as error:
            raise UpstreamError(f"{self._owner.url}: the connection broke off: {error}") from error
        finally:
            self._ended = True
            self._owner.give_back(self._connection, reusable=finished)

    async def body(self) -> bytes:
        """All of it."""
        return b"".join([chunk async for chunk in self.chunks()])

    def close(self) -> None:
        """Read no further; after the end it does nothing."""
        if not self._ended:
            self._connection.writer.close()


class Upstream:
    """One server, named by its endpoint URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UpstreamError(f"mcp: {url!r} is not an http(s) URL")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._host, self._port = parts.hostname, parts.port or (443 if self._tls else 80)
        self._authority = parts.netloc.rpartition("@")[2]
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._idle: list[_Connection] = []

    async def request(self, method: str, headers: Mapping[str, str], body: bytes = b"", query: str = "") -> Response:
        """Send a request. Raises UpstreamError if there is no answer."""
        while self._idle:
            connection = self._idle.pop()
            if connection.reader.at_eof() or connection.writer.is_closing():
                connection.writer.close()
                continue
            try:
                return await self._exchange(connection, method, headers, body, query)
            except UpstreamError:
                continue  # a keep-alive connection may have been closed meanwhile: a fresh one decides
        return await self._exchange(await self._connect(), method, headers, body, query)

    def give_back(self, connection: _Connection, *, reusable: bool) -> None:
        """Keep a connection for the next request, or close it."""
        if reusable and connection.h11.our_state is h11.DONE and connection.h11.their_state is h11.DONE:
            connection.h11.start_next_cycle()
            self._idle.append(connection)
        else:
            connection.writer.close()

    def close(self) -> None:
        """Close what is idle."""
        for connection in self._idle:
            connection.writer.close()
        self._idle.clear()

    async def _connect(self) -> _Connection:
        try:
            async with asyncio.timeout(10):
                reader, writer = await asyncio.open_connection(self._host, self._port, ssl=self._tls)
        except (OSError, TimeoutError) as error:
            raise UpstreamError(f"{self.url} cannot be reached: {error or 'no connection within 10 s'}") from error
        return _Connection(reader, writer)

    async def _exchange(
        self, connection: _Connection, method: str, headers: Mapping[str, str], body: bytes, query: str
    ) -> Response:
        target = self._target + (("&" if "?" in self._target else "?") + query if query else "")
        sent = {**headers, "host": self._authority}
        if method == "POST":
            sent["content-length"] = str(len(body))
        try:
            request = h11.Request(method=method, target=target, headers=list(sent.items()))
            wire = [connection.h11.send(request), connection.h11.send(h11.Data(data=body)) if body else b""]
            connection.writer.write(b"".join(part or b"" for part in (*wire, connection.h11.send(h11.EndOfMessage()))))
            await connection.writer.drain()
            event = await connection.next_event()
            while isinstance(event, h11.InformationalResponse):
                event = await connection.next_event()
        except (OSError, h11.ProtocolError) as error:
            connection.writer.close()
            raise UpstreamError(f"{self.url}: no answer: {error}") from error
        except BaseException:
            connection.writer.close()
            raise
        if not isinstance(event, h11.Response):
            connection.writer.close()
            raise UpstreamError(f"{self.url}: the server closed the connection without an answer")
        found = {n.decode("latin-1"): v.decode("latin-1") for n, v in event.headers}
        return Response(event.status_code, found, connection, self)
