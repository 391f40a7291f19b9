"""The real HTTP server of a lane being recorded: what it is sent, and the session ids of ours in place of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp import sse
from flowproof_addons.mcp.http import Exchange
from flowproof_addons.mcp.http_replay import SESSION
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.record import Recording
from flowproof_addons.mcp.upstream import Response, Upstream, UpstreamError
from flowproof_addons.session import McpServer

JSON = {"content-type": "application/json"}
RETRY_S = 1.0
"""Until an interrupted stream is asked for again, where the server does not say."""
_TELLING = 16
"""Characters of a session id that is not found in a text by chance."""
_HOP = frozenset(
    "accept-encoding connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade last-event-id".split()
)


@dataclass(slots=True, eq=False)
class Remote:
    """One session of the agent, and the real one behind it."""

    id: str = ""
    """The real server's session id; the agent has one of ours."""
    issued: str = ""
    """Ours."""
    session: int | None = None
    answered: float = float("-inf")
    pushing: bool = False
    ended: bool = False
    """By the agent: what the server then leaves unanswered is not its fault."""

    def ours(self, data: bytes) -> bytes:
        """What the server says, with our session id where it names its own: some put it into their texts."""
        return data.replace(self.id.encode(), self.issued.encode()) if len(self.id) >= _TELLING else data

    def theirs(self, data: bytes) -> bytes:
        """What the agent says, the other way round."""
        return data.replace(self.issued.encode(), self.id.encode()) if len(self.id) >= _TELLING else data

    def answer(self, request: Message, outcome: Message, status: int = 200) -> None:
        """Not used: answers go back on the POST that asked."""
        raise NotImplementedError

    def hang_up(self, request: Message) -> None:
        """Not used: the POST that asked closes its own connection."""
        raise NotImplementedError

    def send(self, message: Message, within: Message | None) -> None:
        """Not used: server messages are relayed on the stream they come on."""
        raise NotImplementedError


class Origin:
    """One real server, and the agent's sessions with it."""

    def __init__(self, declared: McpServer, lane: Recording) -> None:
        self.declared = declared
        self.lane = lane
        """Where everything is written down."""
        self.upstream = Upstream(declared.url)
        self.headers = {name.lower(): value for name, value in declared.headers.items()}
        """The spec's."""
        self._sessions: dict[str, Remote] = {}
        self._anyone = Remote()
        self._issued = 0

    def remote(self, exchange: Exchange) -> Remote | None:
        """The session a request belongs to; None for one that has ended, or never was."""
        given = exchange.headers.get(SESSION)
        return self._anyone if given is None else self._sessions.get(given)

    def drop(self, exchange: Exchange) -> None:
        """Forget the session of a request."""
        self._sessions.pop(exchange.headers.get(SESSION, ""), None)

    async def forward(self, exchange: Exchange, remote: Remote, body: bytes, method: str = "") -> Response:
        """Send a request on with the agent's headers, the spec's over them."""
        headers = self._headers(exchange, remote)
        return await self.upstream.request(method or exchange.method, headers, remote.theirs(body), exchange.query)

    async def resume(self, exchange: Exchange, remote: Remote, last_event: str, retry_s: float) -> Response:
        """Take a stream up again that the server closed in the middle of a request."""
        await asyncio.sleep(retry_s)
        headers = {**self._headers(exchange, remote), "accept": "text/event-stream", "last-event-id": last_event}
        headers.pop("content-type", None)
        return await self.upstream.request("GET", headers)

    def issue(self, real: str) -> str:
        """A session id for the agent in place of the real one, which is a credential."""
        self._issued += 1
        name = f"flowproof-{self._issued}"
        self._sessions[name] = Remote(real, name)
        self.lane.journal.session_ids = True
        return name

    def unauthorized(self, exchange: Exchange, response: Response) -> bool:
        """Refuse a request the server wants (other) credentials for: a 401 would send the agent into OAuth."""
        if response.status not in (401, 403):
            return False
        response.close()
        self.fail("unauthorized", f"{self.declared.url} answered {response.status}")
        refuse(exchange, 400, f"the MCP server answered {response.status}; see the run's report")
        return True

    def fail(self, what: str, words: str) -> None:
        """The real server's fault: nothing may be recorded."""
        self.lane.findings.add(f"mcp.server.{what}", f"mcp.{self.declared.name}: {words}", problem=True)

    def _headers(self, exchange: Exchange, remote: Remote) -> dict[str, str]:
        kept = {n: v for n, v in exchange.headers.items() if n not in _HOP and n != SESSION}
        session = {SESSION: remote.id} if remote.id else {}
        return {**kept, **session, "accept-encoding": "identity", **self.headers}


async def events(response: Response, remote: Remote) -> AsyncIterator[sse.Event]:
    """The events of a streamed answer. A server that breaks off ends the stream: it may be resumed."""
    splitter = sse.Splitter()
    try:
        async for chunk in response.chunks():
            for event in splitter.feed(chunk):
                yield replace(event, data=remote.ours(event.data))
    except UpstreamError:
        return


def retry(event: sse.Event, before_s: float) -> float:
    """How long to wait before the stream is asked for again."""
    return before_s if event.retry_ms is None else event.retry_ms / 1000


def kind(response: Response) -> dict[str, str]:
    """The headers of an answer that the agent gets too."""
    kind = response.headers.get("content-type")
    allow = response.headers.get("allow")
    return {n: v for n, v in (("content-type", kind), ("allow", allow)) if v}


def refuse(exchange: Exchange, status: int, words: str) -> None:
    """Answer a request that goes no further."""
    body = rpc.write({"jsonrpc": "2.0", "id": None, **rpc.error(words, -32600)})
    exchange.respond(status, body, {**JSON, "x-should-retry": "false"})
