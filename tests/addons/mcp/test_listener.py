"""A listener may be closed at any moment: what it accepted before is handed over, and no socket stays open."""

from __future__ import annotations

import asyncio
import socket

import pytest

from flowproof_addons.mcp.listener import Listener


class Protocol(asyncio.Protocol):
    """Keeps its transport."""

    def __init__(self, made: list[asyncio.BaseTransport]) -> None:
        self._made = made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._made.append(transport)


@pytest.mark.parametrize("passes", range(4))
def test_a_connection_being_accepted_when_it_closes_is_handed_over_or_refused(passes: int) -> None:
    """`passes`: how far the loop has come with it. Warnings are errors here: a socket left open would be one."""

    async def go() -> None:
        made: list[asyncio.BaseTransport] = []
        listener = Listener(socket.create_server(("127.0.0.1", 0)), lambda: Protocol(made))
        with socket.create_connection(listener.sock.getsockname()) as client:
            for _ in range(passes):
                await asyncio.sleep(0)
            await listener.close()
            for transport in made:
                transport.close()
            await asyncio.sleep(0)
            client.settimeout(5)
            try:
                assert client.recv(1) == b""
            except ConnectionResetError:
                assert made == []

    asyncio.run(go())


def test_none_is_accepted_after_it_closed() -> None:
    async def go() -> None:
        listener = Listener(socket.create_server(("127.0.0.1", 0)), lambda: Protocol([]))
        address = listener.sock.getsockname()
        await listener.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)

    asyncio.run(go())


def test_what_is_written_is_sent_at_once() -> None:
    async def go() -> int:
        made: list[asyncio.BaseTransport] = []
        listener = Listener(socket.create_server(("127.0.0.1", 0)), lambda: Protocol(made))
        with socket.create_connection(listener.sock.getsockname()):
            while not made:
                await asyncio.sleep(0)
            option: int = made[0].get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            await listener.close()
            made[0].close()
            await asyncio.sleep(0)
        return option

    assert asyncio.run(go())
