"""Opens and closes sessions: a listener each, and what answers behind it."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from mitmproxy import ctx
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.connection import Server
from mitmproxy.proxy.mode_servers import ServerInstance
from mitmproxy.proxy.mode_specs import ReverseMode

from flowproof_addons.dialects.base import Registry
from flowproof_addons.errors import FlowproofError
from flowproof_addons.faults import Faults
from flowproof_addons.hooks.crossing import Sessions
from flowproof_addons.hooks.wall import Wall
from flowproof_addons.live.pacer import Pacer
from flowproof_addons.live.progress import Emit, Live
from flowproof_addons.live.route import route
from flowproof_addons.mcp.lanes import LaneResult, Lanes
from flowproof_addons.session import Session
from flowproof_addons.trace import file
from flowproof_addons.trace.model import JsonValue, Trace

_NOWHERE = "http://replay.invalid"
"""The listener's nominal upstream: never dialled; a recording session sets the real one per request."""


class ListenError(FlowproofError):
    """A listener's port cannot be had."""


@dataclass(slots=True)
class Open:
    """A session being served."""

    live: Live
    lanes: Lanes
    wall: Wall | None = None
    """Behind a WebSocket at replay."""
    pacer: Pacer | None = None
    """Behind the model's listener, where a fault makes answers slow."""
    listeners: dict[str, ServerInstance[ReverseMode]] = field(default_factory=dict)
    """By server name; `""` is the model's."""
    allowed: set[tuple[str, int]] = field(default_factory=set)
    """Addresses the model listener may connect to."""

    def port(self, name: str = "") -> int:
        """The port of one listener."""
        return int(self.listeners[name].listen_addrs[0][1])


class Desk:
    """All open sessions of this boundary."""

    def __init__(self, registry: Registry, environment: Mapping[str, str]) -> None:
        self.models: Sessions = {}
        self.lanes: dict[int, tuple[str, int]] = {}
        """Per MCP listener port: its lane server's address."""
        self.pacers: dict[int, Pacer] = {}
        """Per model listener port, where one is needed."""
        self.walls: dict[int, Wall] = {}
        """The same."""
        self._registry = registry
        self._environment = environment
        self._open: dict[str, Open] = {}
        self._by_port: dict[int, Open] = {}

    def permits(self, port: int, wanted: Server) -> bool:
        """The fence's question: only a recording session's upstream, and a lane server on loopback."""
        if port in self.lanes:
            return wanted.address == self.lanes[port]
        opened = self._by_port.get(port)
        if opened is None or wanted.address is None:
            return False
        if any(own is not None and wanted.address == own.address for own in (opened.pacer, opened.wall)):
            return True
        if opened.live.replaying:
            return False
        return (wanted.address[0], wanted.address[1]) in opened.allowed

    def server(self, port: int) -> str:
        """The MCP server behind a listener; empty for a model's, and for none of ours."""
        opened = self._by_port.get(port)
        return next((name for name in opened.listeners if name and opened.port(name) == port), "") if opened else ""

    async def open(self, session: Session, server: Proxyserver, emit: Emit) -> Open:
        """Start serving a session. Raises FlowproofError, with nothing left open, if it cannot."""
        recordings = file.load(session.cassette) if session.phase == "replay" and session.cassette else None
        faults = Faults(session.faults, session.mcp_faults)
        later = asyncio.get_running_loop().call_later
        live = Live(session, self._registry, recordings, emit, lambda: dt.datetime.now(dt.UTC), faults, later)
        lanes = Lanes(
            session,
            _lanes(recordings),
            emit,
            turns_served=lambda: live.turns,
            faults=faults,
            user_turn=lambda: live.user_turn,
        )
        if live.settling is not None:
            live.lanes_left = lanes.left
            lanes.follow(live.settling.opened, live.settling.closed)
        opened = Open(live, lanes, allowed=self._allowed(session))
        self._open[session.id] = opened
        try:
            await lanes.start()
            if any(fault.kind == "slow" for fault in session.faults):
                opened.pacer = Pacer()
                await opened.pacer.open()
            if session.websocket and live.replaying:
                opened.wall = Wall()
                opened.wall.open()
            await self._listen(opened, "", session.port, server)
            if opened.wall is not None:
                self.walls[opened.port()] = opened.wall
            if opened.pacer is not None:
                opened.pacer.listener = opened.port()
                self.pacers[opened.port()] = opened.pacer
            self.models[opened.port()] = live
            for lane in session.mcp:
                await self._listen(opened, lane.name, lane.port, server)
                self.lanes[opened.port(lane.name)] = lanes.upstream(lane.name)
        except BaseException:
            await self.close(session.id, server)
            raise
        return opened

    def begin(self, session_id: str, user_turn: int) -> None:
        """What arrives from now on belongs to this user turn of a conversation."""
        self._open[session_id].live.begin(user_turn)

    def turns(self, session_id: str) -> int:
        """How many model requests have arrived so far."""
        return self._open[session_id].live.turns

    async def close(
        self, session_id: str, server: Proxyserver
    ) -> tuple[dict[str, JsonValue], Mapping[str, LaneResult]]:
        """Stop serving a session: listeners, connections, lanes; what it found."""
        opened = self._open.pop(session_id)
        found = opened.live.close()
        for instance in opened.listeners.values():
            addresses = {address[1] for address in instance.listen_addrs}
            await instance.stop()
            for port in addresses:
                self.models.pop(port, None)
                self.lanes.pop(port, None)
                self.pacers.pop(port, None)
                self.walls.pop(port, None)
                self._by_port.pop(port, None)
                _hang_up(server, port)
        if opened.pacer is not None:
            await opened.pacer.close()
        if opened.wall is not None:
            await opened.wall.close()
        return found, await opened.lanes.close()

    async def close_all(self, server: Proxyserver) -> None:
        """Stop serving everything."""
        for session_id in list(self._open):
            await self.close(session_id, server)

    async def _listen(self, opened: Open, name: str, port: int, server: Proxyserver) -> None:
        instance: ServerInstance[ReverseMode] = ServerInstance.make(f"reverse:{_NOWHERE}@127.0.0.1:{port}", server)
        try:
            await instance.start()
        except OSError as error:
            what = f"MCP server {name!r}" if name else "the model API (`proxy_port`)"
            raise ListenError(
                f"port {port} for {what} cannot be opened: {error.strerror or error}; free it or choose another"
            ) from error
        opened.listeners[name] = instance
        self._by_port[opened.port(name)] = opened

    def _allowed(self, session: Session) -> set[tuple[str, int]]:
        if session.phase == "replay":
            return set()
        return {route(u.url, "/", None, self._environment).address for u in session.upstreams.values()}


def proxyserver() -> Proxyserver:
    """mitmproxy's own addon that owns the listeners and connections of this process."""
    return cast(Proxyserver, ctx.master.addons.get("proxyserver"))


def _lanes(recordings: Trace | None) -> Mapping[str, JsonValue]:
    return {} if recordings is None else recordings.mcp


def _hang_up(server: Proxyserver, port: int) -> None:
    """Stopping a listener leaves its keep-alive connections; a left-over agent must not go on being served."""
    for handler in list(server.connections.values()):
        if handler.client.sockname[1] != port:
            continue
        transport = handler.transports.get(handler.client)
        if transport is not None and transport.handler is not None:
            transport.handler.cancel("session closed")
