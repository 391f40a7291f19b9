"""Where slow answers come from: a server behind the model's listener, since mitmproxy cannot make up a stream.

At record it asks for the answer itself, through the same listener, so that the request goes out as any other.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass

from flowproof_addons.live.answer import answer
from flowproof_addons.live.crossing import Crossing, Due
from flowproof_addons.live.spoiled import streamed
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.mcp.http import Exchange, HttpDoor
from flowproof_addons.mcp.upstream import Upstream, UpstreamError
from flowproof_addons.trace.model import Reply

_HOP = frozenset("connection content-length host keep-alive te transfer-encoding upgrade".split())


@dataclass(frozen=True, slots=True)
class Job:
    """One slow answer."""

    crossing: Crossing
    due: Due


class Pacer:
    """Answers the requests it was told to expect, frame by frame."""

    TOKEN = "x-flowproof-slowly"
    """Header with the token of a job: on the way in to us, and on the way out for the answer at record."""

    def __init__(self) -> None:
        self._door = HttpDoor(self._serve)
        self._jobs: dict[str, Job] = {}
        self._fetching: dict[str, Crossing] = {}
        self.listener = 0
        """The port of the listener it stands behind."""

    async def open(self) -> None:
        """Listen."""
        await self._door.open()

    async def close(self) -> None:
        """Cut every answer off."""
        await self._door.close()

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens, on loopback."""
        return self._door.address

    def expect(self, job: Job) -> str:
        """The token with which the request for this job is to come."""
        token = secrets.token_hex(16)
        self._jobs[token] = job
        return token

    def fetched_for(self, token: str) -> Crossing | None:
        """The crossing whose answer a request of ours with this token fetches."""
        return self._fetching.pop(token, None)

    async def _serve(self, exchange: Exchange) -> None:
        job = self._jobs.pop(exchange.headers.get(self.TOKEN, ""), None)
        if job is None:
            exchange.respond(404)
            return
        recorded = job.due.recorded
        try:
            reply = recorded.exchange.reply if recorded is not None else await self._fetch(exchange, job)
            if reply is not None:
                await _slowly(exchange, job, reply)
        except asyncio.CancelledError:
            _given_up(job)
            raise

    async def _fetch(self, exchange: Exchange, job: Job) -> Reply | None:
        """The upstream's answer; None, passed on at once, if it is none to be slow with."""
        token = secrets.token_hex(16)
        self._fetching[token] = job.crossing
        upstream = Upstream(f"http://127.0.0.1:{self.listener}{exchange.path}")
        headers = {n: v for n, v in exchange.headers.items() if n not in _HOP} | {self.TOKEN: token}
        try:
            response = await upstream.request(exchange.method, headers, exchange.body, exchange.query)
            data = await response.body()
        except UpstreamError:
            exchange.respond(502)
            return None
        finally:
            upstream.close()
        if job.crossing.fetched is None:
            exchange.respond(response.status, data, {n: v for n, v in response.headers.items() if n not in _HOP})
        return job.crossing.fetched


async def _slowly(exchange: Exchange, job: Job, reply: Reply) -> None:
    crossing, gap_s = job.crossing, job.due.fault.seconds
    assert crossing.dialect is not None
    shown = streamed(reply, crossing.dialect, crossing.request)
    if shown.frames is None or not crossing.dialect.wants_stream(crossing.request):
        served = answer(reply, crossing.dialect, crossing.request).reply
        await asyncio.sleep(gap_s)
        _settled(job, reply)
        exchange.respond(served.status, served.body, served.headers)
        return
    exchange.begin(shown.status, shown.headers)
    for number, frame in enumerate(shown.frames, 1):
        await asyncio.sleep(gap_s)
        if number == len(shown.frames):
            _settled(job, reply)
        exchange.write(frame)
    exchange.end()


def _settled(job: Job, reply: Reply) -> None:
    """The answer has come through, and is the turn; one that was not taken when it was recorded is no turn now."""
    crossing, recorded = job.crossing, job.due.recorded
    if recorded is not None and recorded.exchange.fault is not None:
        crossing.live.faulted(crossing, job.due, reply)
        crossing.live.faults.remark(job.due.fault, "the agent took it all")
        return
    if not crossing.live.replaying:
        crossing.live.record(crossing, reply)
    elif isinstance(found := crossing.live.match(crossing), Divergence):
        crossing.live.problem(f"the recording of a slow answer was used by an equal request: {found.headline}")
    crossing.settled = True


def _given_up(job: Job) -> None:
    """The agent hung up: the request is no turn, and its recording is still to come."""
    crossing, recorded = job.crossing, job.due.recorded
    reply = recorded.exchange.reply if recorded is not None else crossing.fetched
    if reply is not None and crossing.exchange is None and not crossing.live.closed.is_set():
        crossing.live.faulted(crossing, job.due, reply)
        crossing.live.faults.remark(job.due.fault, "the agent gave up")
