"""One POST on its way to a real HTTP server and back: relayed as it comes, written down as it passes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp import sse
from flowproof_addons.mcp.http import Exchange
from flowproof_addons.mcp.http_replay import SESSION
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.origin import JSON, RETRY_S, Origin, Remote, events, kind, refuse, retry
from flowproof_addons.mcp.policy import Local
from flowproof_addons.mcp.upstream import Response

_RESUMES = 20


@dataclass(slots=True)
class Relay:
    """One POST of the agent."""

    origin: Origin
    exchange: Exchange
    remote: Remote

    async def run(self) -> None:
        """Forward it, relay what comes."""
        messages = rpc.read(self.exchange.body)
        if messages is None:
            refuse(self.exchange, 400, "the body is not JSON-RPC")
            return
        local = [(m, self.origin.lane.from_agent(self.remote, m)) for m in messages]
        fates = [answer.silent_s for _, answer in local if answer is not None and answer.silent_s is not None]
        if fates:
            await asyncio.sleep(max(fates))
            self.exchange.vanish()
            return
        forwarded = [m for m, answer in local if answer is None]
        batch = rpc.batched(self.exchange.body)
        own = [_answer(m, answer) for m, answer in local if answer is not None]
        if not forwarded:
            self.exchange.respond(200, rpc.write([*own] if batch else own[0]), JSON)
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
                    self.origin.lane.cancel(message)
                self.origin.lane.forget(message)
            raise

    async def _forward(self, body: bytes, requests: list[Message], own: list[Message]) -> None:
        response = await self.origin.forward(self.exchange, self.remote, body)
        try:
            await self._relay(response, requests, own)
        finally:
            response.close()

    async def _relay(self, response: Response, requests: list[Message], own: list[Message]) -> None:
        if self.origin.unauthorized(self.exchange, response):
            self._forget(requests)
            return
        headers: dict[str, str] = {}
        if (real := response.headers.get(SESSION)) and any(rpc.method(m) == "initialize" for m in requests):
            headers[SESSION] = self.origin.issue(real)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            await self._stream(response, headers, requests, own)
        else:
            await self._whole(response, headers, requests, own)

    async def _whole(
        self, response: Response, headers: dict[str, str], requests: list[Message], own: list[Message]
    ) -> None:
        """Relay an answer that is no stream."""
        body = self.remote.ours(await response.body())
        messages = rpc.read(body) or []
        for message in messages:
            await self.origin.lane.hold(self.remote, message, requests)
        given = [self.origin.lane.from_server(self.remote, m, requests, response.status) for m in messages]
        self._forget(requests)
        if own or any(new is not old for new, old in zip(given, messages, strict=True)):
            body = rpc.write([*given, *own]) if own or rpc.batched(body) else rpc.write(given[0])
        elif requests and not messages:
            self.origin.fail("no-answer", f"{rpc.method(requests[0])} was answered {response.status} without JSON-RPC")
        self.exchange.respond(response.status, body, {**kind(response), **headers})

    async def _stream(
        self, response: Response, headers: dict[str, str], requests: list[Message], own: list[Message]
    ) -> None:
        """Relay an event stream, taking it up again where the server cuts it before the answer."""
        self.exchange.stream(headers)
        for message in own:
            self.exchange.write(sse.frame(rpc.write(message)))
        last, retry_s = "", RETRY_S
        for _ in range(_RESUMES):
            async for event in events(response, self.remote):
                last, retry_s = event.id or last, retry(event, retry_s)
                await self._event(event, requests)
            if not self._unanswered(requests) or not last:
                break
            response = await self.origin.resume(self.exchange, self.remote, last, retry_s)
        if (left := self._owed(requests)) and not self.remote.ended:
            self.origin.fail("died", f"the stream of {rpc.method(left[0])} ended without its answer")
        self._forget(requests)
        self.exchange.end()

    async def _event(self, event: sse.Event, requests: list[Message]) -> None:
        lane, messages = self.origin.lane, rpc.read(event.data)
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
        open_ = self.origin.lane.open(self.remote)
        return [m for m in requests if any(o.message is m for o in open_)]

    def _owed(self, requests: list[Message]) -> list[Message]:
        """A call the agent gave up need not be answered; it may be."""
        open_ = self.origin.lane.open(self.remote)
        return [m for m in requests if any(o.message is m and not o.cancelled for o in open_)]

    def _forget(self, requests: list[Message]) -> None:
        for message in requests:
            self.origin.lane.forget(message)

    def _limit(self, requests: list[Message]) -> float | None:
        listening = any(rpc.method(m) == rpc.LISTEN for m in requests)
        return None if listening else self.origin.declared.call_s

    def _hung(self, requests: list[Message]) -> None:
        left = self._unanswered(requests)
        named = ", ".join(rpc.tool(rpc.method(m), rpc.params(m)) or rpc.method(m) for m in left) or "a notification"
        self.origin.fail("hung", f"{named} was not answered within {self.origin.declared.call_s:g} s")
        self._forget(requests)
        errors = [rpc.answer(rpc.request_id(m), rpc.error("the MCP server did not answer in time")) for m in left]
        if not self.exchange.answered and errors:
            self.exchange.respond(200, rpc.write(errors[0] if len(errors) == 1 else [*errors]), JSON)
        for message in errors:
            self.exchange.write(sse.frame(rpc.write(message)))
        self.exchange.end()


def _answer(request: Message, local: Local) -> Message:
    return rpc.answer(rpc.request_id(request), local.outcome)
