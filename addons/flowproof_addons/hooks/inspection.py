"""Traces as mitmproxy flows: what `flowproof inspect` puts into mitmweb."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mitmproxy import ctx, http
from mitmproxy.connection import Client, Server

from flowproof_addons.dialects.base import Registry
from flowproof_addons.hooks.facts import Facts, note
from flowproof_addons.hooks.view import mark
from flowproof_addons.live import label
from flowproof_addons.live.answer import answer
from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.lane import Call, Frame, Lane, Listing
from flowproof_addons.trace import file
from flowproof_addons.trace.body import wire
from flowproof_addons.trace.model import Exchange, JsonValue, Trace

_SPACING_S = 0.001
"""Traces hold no times but their own: flows follow one another closely, in the order in which they happened."""
_NOBODY = ("", 0)


@dataclass(frozen=True, slots=True)
class Shown:
    """A trace to be shown."""

    path: Path
    name: str
    """Stands as the host in its addresses."""
    several: bool = False
    """It is not the only one: the name begins its lines in the list."""


async def show(shown: Shown, registry: Registry) -> int:
    """Put a trace's flows into the master that runs; how many. Raises FlowproofError if the trace cannot be read."""
    made = flows(file.load(shown.path), shown, registry)
    for flow in made:
        await ctx.master.load_flow(flow)
    return len(made)


async def show_stdio(session_id: str, lanes: Mapping[str, JsonValue], registry: Registry) -> None:
    """Put a session's stdio traffic, which passes no listener, into the master that runs, if somebody looks."""
    if ctx.master.addons.get("view") is None:
        return
    unseen = {
        name: lane
        for name, lane in lanes.items()
        if lane is not None and lane_file.load(name, lane).transport == "stdio"
    }
    trace = Trace("", dt.datetime.now(dt.UTC).isoformat(), "", mcp=unseen)
    for flow in flows(trace, Shown(Path(session_id), session_id, several=True), registry):
        await ctx.master.load_flow(flow)


def flows(trace: Trace, shown: Shown, registry: Registry) -> list[http.HTTPFlow]:
    """The flows of a trace: exchanges in order, and MCP traffic where it stood among the model's turns."""
    lanes = {name: lane_file.load(name, value) for name, value in trace.mcp.items() if value is not None}
    maker = _Maker(shown, registry, _start(trace.recorded_at))
    made: list[http.HTTPFlow] = []
    waiting = _Waiting(sorted((event for name, lane in lanes.items() for event in _events(name, lane)), key=_place))
    turns = 0
    for exchange in trace.exchanges:
        if exchange.is_turn:
            made += [maker.lane(event) for event in waiting.until(turns)]
            turns += 1
        made.append(maker.exchange(exchange, turns if exchange.is_turn else None))
    return made + [maker.lane(event) for event in waiting.until(None)]


@dataclass(frozen=True, slots=True)
class _Event:
    """Something in a lane, with its place among the turns and the events of all lanes."""

    server: str
    after: int
    tick: int
    what: Call | Listing | Frame


def _place(event: _Event) -> tuple[int, int, bool]:
    return event.after, event.tick, isinstance(event.what, Listing)


@dataclass(slots=True)
class _Waiting:
    """Lane events in order, handed out as the turns go by."""

    events: list[_Event]

    def until(self, turns: int | None) -> Iterator[_Event]:
        """Those that came when `turns` turns had been served, or fewer; None: all that is left."""
        while self.events and (turns is None or self.events[0].after <= turns):
            yield self.events.pop(0)


def _events(server: str, lane: Lane) -> Iterator[_Event]:
    """A listing says how many calls were answered before it, a push only its tick: both stand by the call before."""
    calls = sorted(lane.calls, key=lambda call: call.opened)
    for listing in lane.catalogue:
        before = calls[: listing.after]
        place = before[-1] if before else None
        yield _Event(server, place.turns if place else 0, place.opened if place else 0, listing)
    for call in calls:
        yield _Event(server, call.turns, call.opened, call)
    for frame in (*lane.pushes, *(frame for call in calls for frame in call.frames)):
        before = [call for call in calls if call.opened <= frame.at]
        yield _Event(server, before[-1].turns if before else 0, frame.at, frame)


def _start(recorded_at: str) -> float:
    try:
        return dt.datetime.fromisoformat(recorded_at).timestamp()
    except ValueError:
        return 0.0


@dataclass(slots=True)
class _Maker:
    """Makes flows with ids and times that are the same at every inspection, so that links to them stay good."""

    shown: Shown
    registry: Registry
    start_s: float
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def exchange(self, exchange: Exchange, number: int | None) -> http.HTTPFlow:
        """An exchange of the model boundary."""
        asked = exchange.request
        path = f"{asked.path}?{asked.query}" if asked.query else asked.path
        kind = asked.headers.get("content-type", "application/json")
        flow = self._flow(asked.method, self.shown.name, path, wire(asked.body, kind), asked.headers)
        if isinstance(exchange.divergence, dict):
            told = f"flowproof: {exchange.divergence.get('message')}"
            self._answer(flow, 400, json.dumps({"error": {"message": told}}).encode(), {})
        elif exchange.reply.status:
            dialect = self.registry.named(exchange.dialect) if exchange.dialect else None
            served = answer(exchange.reply, dialect, asked).reply
            self._answer(flow, served.status, served.body, served.headers)
        mark(flow, exchange, number, self.registry)
        flow.comment = self._prefixed(flow.comment)
        if exchange.attempts:
            flow.comment += (
                f" · after {len(exchange.attempts)} failed: {', '.join(str(a.status) for a in exchange.attempts)}"
            )
        return flow

    def lane(self, event: _Event) -> http.HTTPFlow:
        """Something in a lane."""
        match event.what:
            case Call() as call:
                return self._call(event.server, call)
            case Listing() as listing:
                request: rpc.Message = {"jsonrpc": "2.0", "method": listing.method, "params": dict(listing.params)}
                return self._lane(event.server, "POST", request, listing.outcome, listing.status)
            case Frame() as frame:
                return self._lane(event.server, "PUSH", frame.message, frame.answer, remark="sent by the server")

    def _call(self, server: str, call: Call) -> http.HTTPFlow:
        request: rpc.Message = {"jsonrpc": "2.0", "method": call.method, "params": dict(call.params)}
        remark = {
            "server": "",
            "spec": "answered by the spec",
            "enforce": "refused by the spec",
            "fault": "a fault of the spec",
        }[call.by]
        flow = self._lane(
            server, "POST", request, call.outcome, call.status, remark, f"{call.ms:,} ms" if call.closed else ""
        )
        if flow.response is not None:
            flow.response.timestamp_end = flow.request.timestamp_start + call.ms / 1000
        if call.by == "enforce":
            flow.marked = ":no_entry:"
        return flow

    def _lane(
        self,
        server: str,
        verb: str,
        message: rpc.Message,
        outcome: Mapping[str, JsonValue] | None,
        status: int = 200,
        remark: str = "",
        took: str = "",
    ) -> http.HTTPFlow:
        method, params = rpc.method(message), rpc.params(message)
        tool = rpc.tool(method, params)
        path = f"/{method}/{tool}" if tool else f"/{method}"
        flow = self._flow(verb, f"{server}.mcp.{self.shown.name}", path, rpc.write(dict(message)), _JSON)
        if outcome is not None:
            self._answer(flow, status, rpc.write({"jsonrpc": "2.0", **outcome}), _JSON)
        note(flow, Facts(server=server, remark=remark))
        said = " · ".join(filter(None, (remark, "✗ error" if outcome and _failed(outcome) else "", took)))
        flow.comment = self._prefixed(label.mcp(server, method, tool, params.get("arguments") or {}, said))
        return flow

    def _prefixed(self, comment: str) -> str:
        return f"{self.shown.name} · {comment}" if self.shown.several else comment

    def _flow(self, method: str, host: str, path: str, content: bytes, headers: Mapping[str, str]) -> http.HTTPFlow:
        number = next(self.numbers)
        at = self.start_s + number * _SPACING_S
        client = Client(peername=_NOBODY, sockname=_NOBODY, timestamp_start=at)
        flow = http.HTTPFlow(client, Server(address=(host, 80)))
        flow.id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.shown.path.absolute().as_uri()}#{number}"))
        flow.request = http.Request.make(method, f"http://{host}{path}", content, _fields(headers))
        flow.timestamp_created = flow.request.timestamp_start = flow.request.timestamp_end = at
        return flow

    def _answer(self, flow: http.HTTPFlow, status: int, content: bytes, headers: Mapping[str, str]) -> None:
        flow.response = http.Response.make(status, content, _fields(headers))
        flow.response.timestamp_start = flow.response.timestamp_end = flow.request.timestamp_start


_JSON = {"content-type": "application/json"}


def _fields(headers: Mapping[str, str]) -> http.Headers:
    return http.Headers(
        [(k.encode("utf-8", "surrogateescape"), v.encode("utf-8", "surrogateescape")) for k, v in headers.items()]
    )


def _failed(outcome: Mapping[str, JsonValue]) -> bool:
    result = outcome.get("result")
    return "error" in outcome or (isinstance(result, dict) and result.get("isError") is True)
