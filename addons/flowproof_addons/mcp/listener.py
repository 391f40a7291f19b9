"""Accepts connections until it is closed.

asyncio's own server may not be closed while a connection is being accepted: the half-made transport and its socket
stay open then (CPython 3.12 to 3.14: `Server._attach` on a closed server), and a client waits for ever.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable


class Listener:
    """A listening socket on the running event loop."""

    def __init__(self, sock: socket.socket, make: Callable[[], asyncio.BaseProtocol]) -> None:
        self.sock = sock
        self._make = make
        self._loop = asyncio.get_running_loop()
        self._connecting: set[asyncio.Task[None]] = set()
        sock.setblocking(False)
        sock.listen(128)
        self._loop.add_reader(sock.fileno(), self._accept)

    async def close(self) -> None:
        """Accept no more; every connection accepted before has been handed over afterwards."""
        self._loop.remove_reader(self.sock.fileno())
        self.sock.close()
        await asyncio.gather(*self._connecting)

    def _accept(self) -> None:
        try:
            connection, _ = self.sock.accept()
        except OSError:  # gone again, or no descriptor is left: the next one may have more luck
            return
        if connection.family != socket.AF_UNIX:  # asyncio's own server does so; without, each answer waits 40 ms
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = self._loop.create_task(self._connect(connection))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._make, connection)
        except OSError:
            connection.close()
