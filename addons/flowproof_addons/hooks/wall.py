"""What stands behind a WebSocket at replay: mitmproxy relays between two ends, and the model's is not there.

It takes every upgrade, answers pings and closing, and says nothing. What it is told is a wish: to hang up.
"""

from __future__ import annotations

import asyncio
import socket

import wsproto
from wsproto import events
from wsproto.utilities import ProtocolError

from flowproof_addons.mcp.listener import Listener


class Wall:
    """Listens on loopback for one session."""

    HANG_UP = b"hang up"

    def __init__(self) -> None:
        self._listener: Listener | None = None
        self._open: set[_Connection] = set()
        self.address: tuple[str, int] = ("127.0.0.1", 0)

    def open(self) -> None:
        """Listen."""
        sock = socket.socket()
        sock.bind(self.address)
        self.address = ("127.0.0.1", int(sock.getsockname()[1]))
        self._listener = Listener(sock, lambda: _Connection(self._open))

    async def close(self) -> None:
        """Break every socket off."""
        if self._listener is not None:
            await self._listener.close()
        for connection in list(self._open):
            connection.abort()


class _Connection(asyncio.Protocol):
    def __init__(self, others: set[_Connection]) -> None:
        self._others = others
        self._ws = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._others.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._others.discard(self)

    def data_received(self, data: bytes) -> None:
        try:
            self._ws.receive_data(data)
            for event in self._ws.events():
                self._met(event)
        except ProtocolError:
            self.abort()

    def abort(self) -> None:
        """Hang up without a word."""
        if self._transport is not None:
            self._transport.abort()

    def _met(self, event: events.Event) -> None:
        match event:
            case events.Request():
                self._say(events.AcceptConnection())
            case events.Ping():
                self._say(event.response())
            case events.CloseConnection():
                self._say(event.response())
                if self._transport is not None:
                    self._transport.close()
            case events.Message():
                self.abort()
            case _:
                pass  # a pong that nobody asked for

    def _say(self, event: events.Event) -> None:
        if self._transport is not None:
            self._transport.write(self._ws.send(event))
