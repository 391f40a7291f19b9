"""No connection leaves the boundary but to a recording session's own upstream.

Below the hooks on purpose: a later addon can undo what a `server_connect` hook decided, and mitmproxy forwards a
request whose hook raised. Neither can undo this.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mitmproxy.addons.clientplayback import ReplayHandler
from mitmproxy.connection import Server
from mitmproxy.proxy import commands, events, mode_servers, server

REFUSED = "flowproof: no connection leaves the boundary at replay"

type Permits = Callable[[int, Server], bool]
"""Given the listener's port and the connection wanted: may it be opened?"""

type _Open = Callable[[server.ConnectionHandler, commands.OpenConnection], Awaitable[None]]


def raise_fence(permits: Permits) -> Callable[[], None]:
    """Put every outgoing connection of this process under `permits`; returns the function that takes it down.

    Requests sent again by hand (mitmweb's Replay button) are nobody's session: they never leave.
    """
    handler = mode_servers.ProxyConnectionHandler
    inherited: _Open = server.ConnectionHandler.open_connection

    async def open_connection(self: mode_servers.ProxyConnectionHandler, command: commands.OpenConnection) -> None:
        if _permitted(permits, self, command):
            await inherited(self, command)
            return
        await _refuse(self, command)

    handler.open_connection = open_connection  # type: ignore[method-assign, assignment]  # narrower self
    ReplayHandler.open_connection = _refuse  # type: ignore[method-assign, assignment]  # its `self` has another name

    def take_down() -> None:
        del handler.open_connection
        del ReplayHandler.open_connection

    return take_down


async def _refuse(handler: server.ConnectionHandler, command: commands.OpenConnection) -> None:
    command.connection.error = REFUSED
    await handler.server_event(events.OpenConnectionCompleted(command, REFUSED))


def _permitted(
    permits: Permits, handler: mode_servers.ProxyConnectionHandler, command: commands.OpenConnection
) -> bool:
    try:
        return permits(int(handler.client.sockname[1]), command.connection)
    except Exception:  # a bug of ours must close the fence, not open it
        return False
