"""Which outgoing connections are allowed, and that a refusal never dials."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mitmproxy.addons.clientplayback import ReplayHandler
from mitmproxy.connection import Client, Server
from mitmproxy.proxy import commands, events, mode_servers

from flowproof_addons.dialects.registry import default
from flowproof_addons.hooks import fence
from flowproof_addons.hooks.sessions import Desk, Open
from flowproof_addons.session import Upstream

UPSTREAM = ("api.example", 443)


class Listener:
    """Stands for the connection handler of one client."""

    def __init__(self, port: int) -> None:
        self.client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", port))
        self.sent: list[events.Event] = []

    async def server_event(self, event: events.Event) -> None:
        self.sent.append(event)


def desk(make_live: Any, phase: str, port: int = 7) -> Desk:
    made = Desk(default(), {})
    live = make_live(phase, upstreams={"*": Upstream(url="https://api.example/v1")})
    allowed = made._allowed(live.session)
    made._by_port[port] = Open(live, None, allowed=allowed)  # type: ignore[arg-type]
    made.lanes[9] = ("127.0.0.1", 5000)
    return made


@pytest.mark.parametrize(
    ("phase", "port", "address", "permitted"),
    [
        ("record", 7, UPSTREAM, True),
        ("record", 7, ("other.example", 443), False),
        ("record", 7, ("api.example", 80), False),
        ("record", 8, UPSTREAM, False),
        ("replay", 7, UPSTREAM, False),
        ("replay", 7, ("127.0.0.1", 80), False),
        ("replay", 9, ("127.0.0.1", 5000), True),
        ("replay", 9, ("127.0.0.1", 5001), False),
        ("replay", 7, ("127.0.0.1", 5000), False),
        ("record", 7, None, False),
    ],
)
def test_only_a_recording_sessions_upstream_and_a_lanes_own_server(
    phase: str, port: int, address: tuple[str, int] | None, permitted: bool, make_live: Any
) -> None:
    assert desk(make_live, phase).permits(port, Server(address=address)) is permitted


def refused(permits: Any) -> Listener:
    lower = fence.raise_fence(permits)
    try:
        listener = Listener(7)
        command = commands.OpenConnection(Server(address=("127.0.0.1", 1)))
        asyncio.run(mode_servers.ProxyConnectionHandler.open_connection(listener, command))  # type: ignore[arg-type]
        return listener
    finally:
        lower()


def test_a_refused_connection_is_completed_with_the_reason_and_never_dialled() -> None:
    (event,) = refused(lambda port, server: False).sent
    assert isinstance(event, events.OpenConnectionCompleted)
    assert event.reply == fence.REFUSED


def test_a_bug_in_the_question_closes_the_fence() -> None:
    def broken(port: int, server: Server) -> bool:
        raise KeyError("a bug")

    (event,) = refused(broken).sent
    assert isinstance(event, events.OpenConnectionCompleted)
    assert event.reply == fence.REFUSED


def test_the_fence_comes_down_whole() -> None:
    before = mode_servers.ProxyConnectionHandler.open_connection
    fence.raise_fence(lambda port, server: True)()
    assert mode_servers.ProxyConnectionHandler.open_connection is before


def test_a_request_sent_again_by_hand_goes_nowhere() -> None:
    """mitmweb's Replay button dials past the listeners; no session is behind it."""
    inherited = ReplayHandler.open_connection
    take_down = fence.raise_fence(lambda port, wanted: True)
    try:
        handler = Listener(7)
        command = commands.OpenConnection(Server(address=UPSTREAM))
        asyncio.run(ReplayHandler.open_connection(handler, command))  # type: ignore[arg-type]
        assert command.connection.error == fence.REFUSED
        (answer,) = handler.sent
        assert isinstance(answer, events.OpenConnectionCompleted) and answer.reply == fence.REFUSED
    finally:
        take_down()
    assert ReplayHandler.open_connection is inherited
