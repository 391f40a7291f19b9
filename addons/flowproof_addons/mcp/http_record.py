"""Recording over streamable HTTP: requests are forwarded, their answers relayed and written down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp import sse
from flowproof_addons.mcp.http import Exchange
from flowproof_addons.mcp.http_relay import Relay
from flowproof_addons.mcp.http_replay import SESSION
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.origin import RETRY_S, Origin, Remote, events, kind, refuse, retry
from flowproof_addons.mcp.record import Recording
from flowproof_addons.mcp.upstream import Response, UpstreamError
from flowproof_addons.session import McpServer

_OPENING: Message = {
    "jsonrpc": "2.0",
    "id": "flowproof-preflight",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "flowproof", "version": "1"},
    },
}


class PreflightError(UpstreamError):
    """The real server would not serve this recording."""


class Forwarding:
    """The handler of a recorded lane's HTTP door."""

    def __init__(self, declared: McpServer, lane: Recording) -> None:
        self._declared = declared
        self._lane = lane
        self._origin = Origin(declared, lane)

    async def preflight(self) -> None:
        """Ask the server whether it will serve us, before the agent starts.

        Raises PreflightError with the reason if it wants other credentials, or is not there.
        """
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        headers |= self._origin.headers
        named = f"mcp.{self._declared.name}: {self._declared.url}"
        try:
            async with asyncio.timeout(self._declared.startup_s):
                response = await self._origin.upstream.request("POST", headers, rpc.write(_OPENING))
        except UpstreamError as error:
            raise PreflightError(f"mcp.{self._declared.name}: {error}; is the server running?") from error
        except TimeoutError as error:
            raise PreflightError(f"{named} did not answer within {self._declared.startup_s:g} s") from error
        response.close()
        if response.status in (401, 403):
            raise PreflightError(
                f"{named} answered {response.status} {response.headers.get('www-authenticate', '')}: "
                f"put the credentials it wants into mcp.{self._declared.name}.headers"
            )
        if given := response.headers.get(SESSION):
            (await self._origin.upstream.request("DELETE", {**headers, SESSION: given})).close()

    async def __call__(self, exchange: Exchange) -> None:
        """Answer one request."""
        remote = self._origin.remote(exchange)
        if remote is None:
            refuse(exchange, 404, "this MCP session has ended, or never was")
            return
        try:
            match exchange.method:
                case "POST":
                    await Relay(self._origin, exchange, remote).run()
                case "GET":
                    await self._get(exchange, remote)
                case _:
                    await self._plain(exchange, remote)
        except UpstreamError as error:
            self._origin.fail("unreachable", str(error))
            refuse(exchange, 502, str(error))

    def close(self) -> None:
        """Close the connections to the real server."""
        self._origin.upstream.close()

    async def _get(self, exchange: Exchange, remote: Remote) -> None:
        if remote.pushing:
            refuse(exchange, 409, "this session has a push stream already")
            return
        response = await self._origin.forward(exchange, remote, b"")
        if self._origin.unauthorized(exchange, response):
            return
        self._lane.journal.push_status = response.status
        if response.status != 200:
            exchange.respond(response.status, await response.body(), kind(response))
            return
        remote.pushing = True
        exchange.stream()
        try:
            async for event in self._push_events(exchange, remote, response):
                for message in rpc.read(event.data) or ():
                    await self._lane.hold(remote, message)
                    self._lane.from_server(remote, message)
                exchange.write(sse.frame(event.data))
        finally:
            remote.pushing = False
            response.close()

    async def _push_events(self, exchange: Exchange, remote: Remote, response: Response) -> AsyncIterator[sse.Event]:
        """The events of a push stream, across the server's own interruptions."""
        last, retry_s = "", RETRY_S
        while response.status == 200:
            async for event in events(response, remote):
                last, retry_s = event.id or last, retry(event, retry_s)
                if event.data:
                    yield event
            if not last:
                return
            response = await self._origin.resume(exchange, remote, last, retry_s)
        response.close()

    async def _plain(self, exchange: Exchange, remote: Remote) -> None:
        remote.ended = remote.ended or exchange.method == "DELETE"
        response = await self._origin.forward(exchange, remote, exchange.body)
        if self._origin.unauthorized(exchange, response):
            return
        if exchange.method == "DELETE":
            self._origin.drop(exchange)
        exchange.respond(response.status, await response.body(), kind(response))
