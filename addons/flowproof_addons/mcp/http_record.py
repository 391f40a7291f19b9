"""Recording over streamable HTTP: requests are forwarded, their answers relayed and written down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp import sse
from flowproof_addons.mcp.http import Exchange
from flowproof_addons.mcp.http_replay import SESSION
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.policy import Local
from flowproof_addons.mcp.record import Recording
from flowproof_addons.mcp.upstream import Response, Upstream, UpstreamError
from flowproof_addons.session import McpServer

_HOP = frozenset(
    "accept-encoding connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade last-event-id".split()
)
_RESUMES = 20
_RETRY_S = 1.0
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


@dataclass(slots=True, eq=False)
class Remote:
    """One session of the agent, and the real one behind it."""

    id: str = ""
    """The real server's session id; the agent has one of ours."""
    session: int | None = None
    pushing: bool = False

    def answer(self, request: Message, outcome: Message, status: int = 200) -> None:
        """Not used: answers go back on the POST that asked."""
        raise NotImplementedError

    def hang_up(self, request: Message) -> None:
        """Not used: the POST that asked closes its own connection."""
        raise NotImplementedError

    def send(self, message: Message, within: Message | None) -> None:
        """Not used: server messages are relayed on the stream they come on."""
        raise NotImplementedError


class Forwarding:
    """The handler of a recorded lane's HTTP door."""

    def __init__(self, declared: McpServer, lane: Recording) -> None:
        self._declared = declared
        self._lane = lane
        self._upstream = Upstream(declared.url)
        self._own = {name.lower(): value for name, value in declared.headers.items()}
        self._sessions: dict[str, Remote] = {}
        self._anyone = Remote()

    async def preflight(self) -> None:
        """Ask the server whether it will serve us, before the agent starts.

        Raises PreflightError with the reason if it wants other credentials, or is not there.
        """
        accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        named = f"mcp.{self._declared.name}: {self._declared.url}"
        try:
            async with asyncio.timeout(self._declared.startup_s):
                response = await self._upstream.request("POST", {**accept, **self._own}, rpc.write(_OPENING))
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
            (await self._upstream.request("DELETE", {**accept, **self._own, SESSION: given})).close()

    async def __call__(self, exchange: Exchange) -> None:
        """Answer one request."""
        given = exchange.headers.get(SESSION)
        remote = self._anyone if given is None else self._sessions.get(given)
        if remote is None:
            _refuse(exchange, 404, "this MCP session has ended, or never was")
            return
        try:
            match exchange.method:
                case "POST":
                    await _Post(self, exchange, remote).run()
                case "GET":
                    await self._get(exchange, remote)
                case _:
                    await self._plain(exchange, remote)
        except UpstreamError as error:
            self.fail("unreachable", str(error))
            _refuse(exchange, 502, str(error))

    def close(self) -> None:
        """Close the connections to the real server."""
        self._upstream.close()

    @property
    def lane(self) -> Recording:
        """Where it is written down."""
        return self._lane

    @property
    def declared(self) -> McpServer:
        """What the spec says."""
        return self._declared

    async def forward(self, exchange: Exchange, remote: Remote, body: bytes, method: str = "") -> Response:
        """Send a request on with the agent's headers, the spec's over them."""
        headers = self._headers(exchange, remote)
        return await self._upstream.request(method or exchange.method, headers, body, exchange.query)

    async def resume(self, exchange: Exchange, remote: Remote, last_event: str, retry_s: float) -> Response:
        """Take a stream up again that the server closed in the middle of a request."""
        await asyncio.sleep(retry_s)
        headers = {**self._headers(exchange, remote), "accept": "text/event-stream", "last-event-id": last_event}
        headers.pop("content-type", None)
        return await self._upstream.request("GET", headers)

    def issue(self, real: str) -> str:
        """A session id for the agent in place of the real one, which is a credential."""
        name = f"flowproof-{len(self._sessions) + 1}"
        self._sessions[name] = Remote(real)
        self._lane.journal.session_ids = True
        return name

    def fail(self, what: str, words: str) -> None:
        """The real server's fault: nothing may be recorded."""
        self._lane.findings.add(f"mcp.server.{what}", f"mcp.{self._declared.name}: {words}", problem=True)

    def _headers(self, exchange: Exchange, remote: Remote) -> dict[str, str]:
        kept = {n: v for n, v in exchange.headers.items() if n not in _HOP and n != SESSION}
        session = {SESSION: remote.id} if remote.id else {}
        return {**kept, **session, "accept-encoding": "identity", **self._own}

    async def _get(self, exchange: Exchange, remote: Remote) -> None:
        if remote.pushing:
            _refuse(exchange, 409, "this session has a push stream already")
            return
        response = await self.forward(exchange, remote, b"")
        self._lane.journal.push_status = response.status
        if response.status != 200:
            exchange.respond(response.status, await response.body(), _kind(response))
            return
        remote.pushing = True
        exchange.stream()
        try:
            async for event in self._push_events(exchange, remote, response):
                for message in rpc.read(event.data) or ():
                    self._lane.from_server(remote, message)
                exchange.write(sse.frame(event.data))
        finally:
            remote.pushing = False
            response.close()

    async def _push_events(self, exchange: Exchange, remote: Remote, response: Response) -> AsyncIterator[sse.Event]:
        """The events of a push stream, across the server's own interruptions."""
        last, retry_s = "", _RETRY_S
        while response.status == 200:
            async for event in events(response):
                last, retry_s = event.id or last, _retry(event, retry_s)
                if event.data:
                    yield event
            if not last:
                return
            response = await self.resume(exchange, remote, last, retry_s)
        response.close()

    async def _plain(self, exchange: Exchange, remote: Remote) -> None:
        response = await self.forward(exchange, remote, exchange.body)
        if exchange.method == "DELETE":
            self._sessions.pop(exchange.headers.get(SESSION, ""), None)
        exchange.respond(response.status, await response.body(), _kind(response))


@dataclass(slots=True)
class _Post:
    """One POST on its way to the real server and back."""

    owner: Forwarding
    exchange: Exchange
    remote: Remote

    async def run(self) -> None:
        """Forward it, relay what comes."""
        messages = rpc.read(self.exchange.body)
        if messages is None:
            _refuse(self.exchange, 400, "the body is not JSON-RPC")
            return
        local = [(m, self.owner.lane.from_agent(self.remote, m)) for m in messages]
        fates = [answer.silent_s for _, answer in local if answer is not None and answer.silent_s is not None]
        if fates:
            await asyncio.sleep(max(fates))
            self.exchange.vanish()
            return
        forwarded = [m for m, answer in local if answer is None]
        batch = self.exchange.body.lstrip()[:1] == b"["
        own = [_answer(m, answer) for m, answer in local if answer is not None]
        if not forwarded:
            self.exchange.respond(200, rpc.write([*own] if batch else own[0]), _JSON)
            return
        body = self.exchange.body if not own else rpc.write([*forwarded])
        requests = [m for m in forwarded if rpc.kind(m) == "request"]
        try:
            async with asyncio.timeout(self._limit(requests)):
                await self._forward(body, requests, own)
        except TimeoutError:
            self._hung(requests)
        except asyncio.CancelledError:
            for message in requests:
                if rpc.modern(message):
                    self.owner.lane.cancel(message)
                self.owner.lane.forget(message)
            raise

    async def _forward(self, body: bytes, requests: list[Message], own: list[Message]) -> None:
        response = await self.owner.forward(self.exchange, self.remote, body)
        try:
            await self._relay(response, requests, own)
        finally:
            response.close()

    async def _relay(self, response: Response, requests: list[Message], own: list[Message]) -> None:
        if response.status in (401, 403):
            self.owner.fail("unauthorized", f"{self.owner.declared.url} answered {response.status}")
            self._forget(requests)
            _refuse(self.exchange, 400, f"the MCP server answered {response.status}; see the run's report")
            return
        headers: dict[str, str] = {}
        if (real := response.headers.get(SESSION)) and any(rpc.method(m) == "initialize" for m in requests):
            headers[SESSION] = self.owner.issue(real)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            await self._stream(response, headers, requests, own)
        else:
            await self._whole(response, headers, requests, own)

    async def _whole(
        self, response: Response, headers: dict[str, str], requests: list[Message], own: list[Message]
    ) -> None:
        """Relay an answer that is no stream."""
        body = await response.body()
        messages = rpc.read(body) or []
        for message in messages:
            await self.owner.lane.hold(self.remote, message, requests)
        given = [self.owner.lane.from_server(self.remote, m, requests, response.status) for m in messages]
        self._forget(requests)
        if own or any(new is not old for new, old in zip(given, messages, strict=True)):
            body = rpc.write([*given, *own]) if own or body.lstrip()[:1] == b"[" else rpc.write(given[0])
        elif requests and not messages:
            self.owner.fail("no-answer", f"{rpc.method(requests[0])} was answered {response.status} without JSON-RPC")
        self.exchange.respond(response.status, body, {**_kind(response), **headers})

    async def _stream(
        self, response: Response, headers: dict[str, str], requests: list[Message], own: list[Message]
    ) -> None:
        """Relay an event stream, taking it up again where the server cuts it before the answer."""
        self.exchange.stream(headers)
        for message in own:
            self.exchange.write(sse.frame(rpc.write(message)))
        last, retry_s = "", _RETRY_S
        for _ in range(_RESUMES):
            async for event in events(response):
                last, retry_s = event.id or last, _retry(event, retry_s)
                await self._event(event, requests)
            if not self._unanswered(requests) or not last:
                break
            response = await self.owner.resume(self.exchange, self.remote, last, retry_s)
        if left := self._unanswered(requests):
            self.owner.fail("died", f"the stream of {rpc.method(left[0])} ended without its answer")
            self._forget(requests)
        self.exchange.end()

    async def _event(self, event: sse.Event, requests: list[Message]) -> None:
        lane, messages = self.owner.lane, rpc.read(event.data)
        if messages is None:
            return
        given: list[Message] = []
        for message in messages:
            await lane.hold(self.remote, message, requests)
            given.append(lane.from_server(self.remote, message, requests))
        unchanged = all(new is old for new, old in zip(given, messages, strict=True))
        for data in [event.data] if unchanged else [rpc.write(message) for message in given]:
            self.exchange.write(sse.frame(data))
        if not self._unanswered(requests):
            self.exchange.end()

    def _unanswered(self, requests: list[Message]) -> list[Message]:
        open_ = self.owner.lane.open(self.remote)
        return [m for m in requests if any(o.message is m for o in open_)]

    def _forget(self, requests: list[Message]) -> None:
        for message in requests:
            self.owner.lane.forget(message)

    def _limit(self, requests: list[Message]) -> float | None:
        listening = any(rpc.method(m) == rpc.LISTEN for m in requests)
        return None if listening else self.owner.declared.call_s

    def _hung(self, requests: list[Message]) -> None:
        left = self._unanswered(requests)
        named = ", ".join(rpc.tool(rpc.method(m), rpc.params(m)) or rpc.method(m) for m in left) or "a notification"
        self.owner.fail("hung", f"{named} was not answered within {self.owner.declared.call_s:g} s")
        self._forget(requests)
        errors = [rpc.answer(rpc.request_id(m), rpc.error("the MCP server did not answer in time")) for m in left]
        if not self.exchange.answered and errors:
            self.exchange.respond(200, rpc.write(errors[0] if len(errors) == 1 else [*errors]), _JSON)
        for message in errors:
            self.exchange.write(sse.frame(rpc.write(message)))
        self.exchange.end()


_JSON = {"content-type": "application/json"}


async def events(response: Response) -> AsyncIterator[sse.Event]:
    """The events of a streamed answer. A server that breaks off ends the stream: it may be resumed."""
    splitter = sse.Splitter()
    try:
        async for chunk in response.chunks():
            for event in splitter.feed(chunk):
                yield event
    except UpstreamError:
        return


def _retry(event: sse.Event, before_s: float) -> float:
    return before_s if event.retry_ms is None else event.retry_ms / 1000


def _answer(request: Message, local: Local) -> Message:
    return rpc.answer(rpc.request_id(request), local.outcome)


def _kind(response: Response) -> dict[str, str]:
    kind = response.headers.get("content-type")
    allow = response.headers.get("allow")
    return {n: v for n, v in (("content-type", kind), ("allow", allow)) if v}


def _refuse(exchange: Exchange, status: int, words: str) -> None:
    body = rpc.write({"jsonrpc": "2.0", "id": None, **rpc.error(words, -32600)})
    exchange.respond(status, body, {**_JSON, "x-should-retry": "false"})
