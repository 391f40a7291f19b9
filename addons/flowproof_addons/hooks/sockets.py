"""Turns over a WebSocket, where the spec lets an agent have one (`agent.responses_websocket`)."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

from mitmproxy import ctx, http

from flowproof_addons.dialects.base import Dialect, Registry
from flowproof_addons.hooks import model, view
from flowproof_addons.hooks.crossing import Sessions, port, unreached
from flowproof_addons.hooks.fail_closed import fail_closed
from flowproof_addons.hooks.wall import Wall
from flowproof_addons.live.crossing import Crossing
from flowproof_addons.live.line import Line, Step
from flowproof_addons.live.progress import Live
from flowproof_addons.trace import body


def is_upgrade(request: http.Request) -> bool:
    """True when the client asks for a WebSocket."""
    return str(request.headers.get("upgrade", "")).lower() == "websocket"


def spoken(live: Live, request: http.Request, registry: Registry) -> Dialect | None:
    """The dialect whose turns go over this socket; None: it is not to be had here."""
    dialect = registry.find("POST", request.path.partition("?")[0]) if live.session.websocket else None
    return dialect if getattr(dialect, "websocket", False) else None


class Sockets:
    """Behind the gate. At record a pipe to the upstream that is listened to; at replay the answers are ours."""

    def __init__(self, sessions: Sessions, registry: Registry, walls: Mapping[int, Wall]) -> None:
        self._sessions = sessions
        self._registry = registry
        self._walls = walls
        """Per port of a model listener, what a socket leads to at replay."""
        self._lines: WeakKeyDictionary[http.HTTPFlow, Line] = WeakKeyDictionary()

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> None:
        live = self._sessions.get(port(flow)) if flow.live else None
        if live is None or flow.response is not None or not is_upgrade(flow.request):
            return
        dialect = spoken(live, flow.request, self._registry)
        assert dialect is not None  # else the gate has answered
        opening = body.request("GET", flow.request.path, flow.request.headers, b"")
        self._lines[flow] = Line(live, dialect, opening)
        if live.replaying:
            flow.request.scheme = "http"
            flow.request.host, flow.request.port = self._walls[port(flow)].address
        else:
            model.forward(flow, Crossing(live, opening, dialect))

    def websocket_start(self, flow: http.HTTPFlow) -> None:
        if flow in self._lines:
            view.hide(flow.request.headers)

    def websocket_message(self, flow: http.HTTPFlow) -> None:
        line = self._lines.get(flow)
        if line is None or flow.websocket is None or flow.websocket.messages[-1].injected:
            return
        message = flow.websocket.messages[-1]
        try:
            text = message.content.decode("utf-8", "surrogatepass")
            if message.from_client:
                step = line.asked(text)
                if step.forward is None:
                    message.drop()
                elif step.forward != text:
                    message.content = step.forward.encode("utf-8", "surrogatepass")
                _say(flow, step)
                _note(flow, line, step.crossing)
            else:
                _note(flow, line, line.told(text))
        except Exception as error:  # mitmproxy would log it and let the message pass
            message.drop()
            line.live.problem(f"flowproof failed inside the boundary: WebSocket: {type(error).__name__}: {error}")
            _inject(flow, Wall.HANG_UP, to_client=False)

    def websocket_end(self, flow: http.HTTPFlow) -> None:
        line = self._lines.pop(flow, None)
        if line is not None and flow.websocket is not None:
            line.ended(by_client=bool(flow.websocket.closed_by_client))

    def error(self, flow: http.HTTPFlow) -> None:
        """The upstream could not be reached."""
        line = self._lines.pop(flow, None)
        if line is not None and flow.response is None and flow.error is not None:
            line.live.problem(unreached(flow, flow.error.msg))


def _say(flow: http.HTTPFlow, step: Step) -> None:
    for event in step.events:
        _inject(flow, event.encode("utf-8", "surrogatepass"), to_client=True)
    if step.hang_up:
        _inject(flow, Wall.HANG_UP, to_client=False)


def _inject(flow: http.HTTPFlow, data: bytes, *, to_client: bool) -> None:
    ctx.master.commands.call("inject.websocket", flow, to_client, data, True)


def _note(flow: http.HTTPFlow, line: Line, crossing: Crossing | None) -> None:
    """Say in mitmweb's list what the last turn was."""
    if crossing is not None and crossing.exchange is not None:
        told = view.comment(crossing.exchange, crossing.turn, line.live.registry)
        flow.comment = f"{line.live.session.id} · WebSocket · {told}"
        if crossing.exchange.divergence is not None:
            flow.marked = ":red_circle:"
