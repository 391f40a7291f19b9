"""A small HTTP/1.1 server on the event loop: what a lane's listener has as its upstream.

It exists because mitmproxy (12.3) cannot make up a streaming response, and MCP pushes need one.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import h11

from flowproof_addons.mcp.listener import Listener


@dataclass(slots=True, eq=False)
class Exchange:
    """One request, and the way to answer it. When the client is gone, the handler is cancelled."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    """Lower-case names; repeated ones joined with a comma."""
    body: bytes
    _send: Callable[[h11.Event], None]
    answered: bool = False
    streaming: bool = False
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def respond(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """Answer whole."""
        if self.answered:
            return
        self._begin(status, {**(headers or {}), "content-length": str(len(body))})
        if body:
            self._send(h11.Data(data=body))
        self.end()

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Begin an answer that comes in pieces."""
        self.streaming = True
        self._begin(status, headers)

    def stream(self, headers: Mapping[str, str] | None = None) -> None:
        """Begin an event stream."""
        self.streaming = True
        kind = {"content-type": "text/event-stream", "cache-control": "no-cache, no-transform"}
        self._begin(200, {**kind, **(headers or {})})

    def write(self, data: bytes) -> None:
        """A piece of the stream."""
        if not self.done.is_set():
            self._send(h11.Data(data=data))

    def end(self) -> None:
        """The answer is complete."""
        if not self.done.is_set():
            self.done.set()
            self._send(h11.EndOfMessage())

    def vanish(self) -> None:
        """Close the connection without an answer, or in the middle of one."""
        self.respond(503, b"", {GONE: "1"})
        self.end()

    def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.answered = True
        self._send(h11.Response(status_code=status, headers=[(n, v) for n, v in headers.items()]))


GONE = "x-flowproof-gone"
"""Header of an answer in whose place the connection is to be closed."""

type Handler = Callable[[Exchange], Awaitable[None]]


class HttpDoor:
    """Listens on loopback and gives every request to the handler."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._listener: Listener | None = None
        self._connections: set[_Connection] = set()

    async def open(self) -> None:
        """Listen on a free port."""
        sock = socket.create_server(("127.0.0.1", 0))
        self._listener = Listener(sock, lambda: _Connection(self._handler, self._connections))

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        assert self._listener is not None
        host, port = self._listener.sock.getsockname()[:2]
        return str(host), int(port)

    async def close(self) -> None:
        """Cut every connection and wait for the handlers to end."""
        if self._listener is not None:
            await self._listener.close()
        tasks = [c.cut() for c in list(self._connections)]
        await asyncio.gather(*(t for t in tasks if t is not None), return_exceptions=True)


class _Connection(asyncio.Protocol):
    """One keep-alive connection; one request at a time."""

    def __init__(self, handler: Handler, all_: set[_Connection]) -> None:
        self._handler = handler
        self._all = all_
        self._h11 = h11.Connection(h11.SERVER)
        self._transport: asyncio.Transport | None = None
        self._request: h11.Request | None = None
        self._body = bytearray()
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._all.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.discard(self)
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        self._h11.receive_data(data)
        self._advance()

    def cut(self) -> asyncio.Task[None] | None:
        """Close at once; the handler still running, if any."""
        if self._transport is not None:
            self._transport.abort()
        if self._task is not None:
            self._task.cancel()
        return self._task

    def _advance(self) -> None:
        try:
            while True:
                event = self._h11.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    return
                if isinstance(event, h11.Request):
                    self._request, self._body = event, bytearray()
                elif isinstance(event, h11.Data):
                    self._body += event.data
                elif isinstance(event, h11.EndOfMessage):
                    self._start()
                else:
                    self._close()
                    return
        except h11.RemoteProtocolError:
            self._close()

    def _start(self) -> None:
        assert self._request is not None
        path, _, query = self._request.target.decode("latin-1").partition("?")
        headers: dict[str, str] = {}
        for raw_name, raw_value in self._request.headers:
            name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        exchange = Exchange(self._request.method.decode("latin-1"), path, query, headers, bytes(self._body), self._send)
        self._task = asyncio.get_running_loop().create_task(self._handle(exchange))

    async def _handle(self, exchange: Exchange) -> None:
        try:
            await self._handler(exchange)
            if not exchange.answered:
                exchange.respond(500)
            exchange.end()
        except asyncio.CancelledError:
            self._close()
            return
        except BaseException:
            self._close()
            raise
        if self._h11.our_state is h11.MUST_CLOSE:
            self._close()
        elif self._transport is not None and not self._transport.is_closing():
            self._task = None
            self._h11.start_next_cycle()
            self._advance()

    def _send(self, event: h11.Event) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        data = self._h11.send(event)
        if data:
            self._transport.write(data)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()
