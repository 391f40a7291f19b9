"""Streamable HTTP from a recorded lane: POST answered as JSON or stream, GET push stream, DELETE, session ids."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp import sse
from flowproof_addons.mcp.http import Exchange
from flowproof_addons.mcp.lane import Lane
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.replay import Replay

SESSION = "mcp-session-id"


@dataclass(slots=True, eq=False)
class Post:
    """One POST of the agent that waits for answers."""

    exchange: Exchange
    requests: list[Message]
    batch: bool
    headers: dict[str, str]
    answers: list[Message] = field(default_factory=list)
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    def frame(self, message: Message) -> None:
        """Send a message of the server's own on this POST's stream."""
        if not self.exchange.answered:
            self.exchange.stream(self.headers)
        self.exchange.write(sse.frame(rpc.write(message)))

    def answer(self, message: Message, status: int) -> None:
        """Send one answer; the last one ends the POST."""
        self.answers.append(message)
        last = len(self.answers) == len(self.requests)
        if self.exchange.streaming:
            self.exchange.write(sse.frame(rpc.write(message)))
        elif last:
            body = rpc.write(list(self.answers) if self.batch else message)
            self._whole(body, status)
        if last:
            self.finished.set()

    def _whole(self, body: bytes, status: int) -> None:
        accepted = self.exchange.headers.get("accept", "*/*")
        if "application/json" in accepted or "*/*" in accepted or status != 200:
            self.exchange.respond(status, body, {"content-type": "application/json", **self.headers})
            return
        self.exchange.stream(self.headers)
        self.exchange.write(sse.frame(body))


@dataclass(slots=True, eq=False)
class HttpSession:
    """An agent's session: several POSTs at a time and at most one push stream."""

    session: int | None = None
    answered: float = float("-inf")
    posts: list[Post] = field(default_factory=list)
    push: Exchange | None = None
    held: list[Message] = field(default_factory=list)
    """Pushed before the agent opened its stream."""

    def answer(self, request: Message, outcome: Message, status: int = 200) -> None:
        """Answer on the POST that asked."""
        post = self._post(request)
        if post is not None:
            post.answer(rpc.answer(rpc.request_id(request), outcome), status)

    def hang_up(self, request: Message) -> None:
        """Close the connection of the POST that asked."""
        post = self._post(request)
        if post is not None:
            post.exchange.vanish()
            post.finished.set()

    def send(self, message: Message, within: Message | None) -> None:
        """Send on the POST it belongs to, else on the push stream."""
        post = None if within is None else self._post(within)
        if post is not None:
            post.frame(message)
        elif self.push is not None:
            self.push.write(sse.frame(rpc.write(message)))
        else:
            self.held.append(message)

    def _post(self, request: Message) -> Post | None:
        return next((p for p in self.posts if any(r is request for r in p.requests)), None)


class Answering:
    """The handler of a replayed lane's HTTP door."""

    def __init__(self, lane: Replay, recorded: Lane) -> None:
        self._lane = lane
        self._push_status = recorded.push_status
        self._issues_ids = recorded.session_ids or recorded.transport == "stdio"
        self._sessions: dict[str, HttpSession] = {}
        self._anyone = HttpSession()
        self._issued = 0

    async def __call__(self, exchange: Exchange) -> None:
        """Answer one request."""
        session = self._find(exchange)
        if session is None:
            exchange.respond(404, *_error("this MCP session has ended, or never was"))
        elif exchange.method == "POST":
            await self._post(exchange, session)
        elif exchange.method == "GET":
            await self._get(exchange, session)
        elif exchange.method == "DELETE":
            self._sessions.pop(exchange.headers.get(SESSION, ""), None)
            self._lane.leave(session)
            exchange.respond(200)
        else:
            exchange.respond(405, b"", {"allow": "GET, POST, DELETE"})

    def _find(self, exchange: Exchange) -> HttpSession | None:
        given = exchange.headers.get(SESSION)
        return self._anyone if given is None else self._sessions.get(given)

    async def _post(self, exchange: Exchange, session: HttpSession) -> None:
        messages = rpc.read(exchange.body)
        if messages is None:
            exchange.respond(400, *_error("the body is not JSON-RPC", -32700))
            return
        headers: dict[str, str] = {}
        if self._issues_ids and any(rpc.method(m) == "initialize" for m in messages):
            session, headers[SESSION] = self._new_session()
        requests = [m for m in messages if rpc.kind(m) == "request"]
        batch = rpc.batched(exchange.body)
        post = Post(exchange, requests, batch, headers)
        session.posts.append(post)
        try:
            for message in messages:
                self._lane.receive(session, message)
            if not requests:
                exchange.respond(202)
            else:
                await post.finished.wait()
        except asyncio.CancelledError:
            for message in requests:
                if rpc.modern(message):  # hanging up is how that era cancels; earlier it means nothing
                    self._lane.abandon(session, message)
            raise
        finally:
            session.posts.remove(post)

    async def _get(self, exchange: Exchange, session: HttpSession) -> None:
        if self._push_status != 200 or (session is self._anyone and self._issues_ids):
            exchange.respond(self._push_status if self._push_status != 200 else 405, b"", {"allow": "POST, DELETE"})
            return
        if session.push is not None:
            exchange.respond(409, *_error("this session has a push stream already"))
            return
        session.push = exchange
        exchange.stream()
        held, session.held = session.held, []
        for message in held:
            exchange.write(sse.frame(rpc.write(message)))
        try:
            await exchange.done.wait()
        finally:
            session.push = None

    def _new_session(self) -> tuple[HttpSession, str]:
        self._issued += 1
        name = f"flowproof-{self._issued}"
        self._sessions[name] = HttpSession()
        return self._sessions[name], name


def _error(words: str, code: int = -32600) -> tuple[bytes, dict[str, str]]:
    body = rpc.write({"jsonrpc": "2.0", "id": None, **rpc.error(words, code)})
    return body, {"content-type": "application/json", "x-should-retry": "false"}
