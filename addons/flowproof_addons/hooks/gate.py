"""Who may speak to a session, and what is answered without looking at a recording."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mitmproxy import http

from flowproof_addons.dialects.base import Dialect, ErrorText, Registry, WireReply
from flowproof_addons.hooks.crossing import Sessions, attach, foreign, port, refuse, send, turn_away
from flowproof_addons.hooks.fail_closed import fail_closed
from flowproof_addons.hooks.sockets import is_upgrade, spoken
from flowproof_addons.live.crossing import Crossing
from flowproof_addons.live.pacer import Pacer
from flowproof_addons.live.progress import Live
from flowproof_addons.trace import body
from flowproof_addons.trace.model import BytesBody, Request

_NO_SOCKETS = b"flowproof speaks HTTP here, not WebSocket (agent.responses_websocket)\n"


class Gate:
    """First hook of a request: finds its session, turns strangers away, reads the body."""

    def __init__(
        self, sessions: Sessions, registry: Registry, pacers: Mapping[int, Pacer] = MappingProxyType({})
    ) -> None:
        self._sessions = sessions
        self._pacers = pacers
        self._registry = registry

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> None:
        if flow.response is not None or not flow.live:
            return
        live = self._sessions.get(port(flow))
        if live is None:
            return
        try:
            self._let_in(flow, live)
        except Exception as error:  # nothing else knows yet whose request this is, and the run must not pass
            live.problem(f"flowproof failed before it could read a request: {type(error).__name__}: {error}")
            raise

    def _let_in(self, flow: http.HTTPFlow, live: Live) -> None:
        if foreign(flow.request):
            turn_away(flow)
        elif fetching := self._fetching(flow):
            attach(flow, fetching)
        elif is_upgrade(flow.request):
            if spoken(live, flow.request, self._registry) is None:
                _by_policy(flow, live, WireReply(426, {"content-type": "text/plain"}, _NO_SOCKETS))
        elif flow.request.method == "HEAD":
            _by_policy(flow, live, WireReply(200, {}, b""))
        else:
            dialect = self._registry.find(flow.request.method, flow.request.path.partition("?")[0])
            self._admit(flow, dialect, live)

    def _fetching(self, flow: http.HTTPFlow) -> Crossing | None:
        """The crossing that one of our own requests carries on."""
        token = flow.request.headers.pop(Pacer.TOKEN, "") if port(flow) in self._pacers else ""
        return self._pacers[port(flow)].fetched_for(token) if token else None

    def _admit(self, flow: http.HTTPFlow, dialect: Dialect | None, live: Live) -> None:
        message = flow.request
        try:
            request = _read(message)
        except (body.EncodingError, _Unreadable) as error:
            live.problem(f"{message.method} {message.path.partition('?')[0]}: {error}")
            refuse(flow, ErrorText(f"flowproof: {error}", "flowproof_unreadable"), dialect)
            return
        crossing = Crossing(live, request, dialect)
        live.arrived(crossing)
        attach(flow, crossing)


def _by_policy(flow: http.HTTPFlow, live: Live, reply: WireReply) -> None:
    """Answer the same at record and at replay, and keep it out of the recording."""
    asked = flow.request
    client = str(asked.headers.get("user-agent", ""))
    live.policy.append(
        {"method": asked.method, "path": asked.path.partition("?")[0], "client": client, "status": reply.status}
    )
    send(flow, reply)


class _Unreadable(Exception):
    """A body that says it is JSON and cannot be compared as such."""


def _read(message: http.Request) -> Request:
    content = message.raw_content or b""
    request = body.request(message.method, message.path, message.headers, content)
    if isinstance(request.body, BytesBody):
        complaint = body.complaint(request.body.data, message.headers.get("content-type", ""))
        if complaint is not None:
            raise _Unreadable(f"the body says it is JSON, but {complaint}")
    return request
