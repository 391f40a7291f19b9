"""What the hooks share about one mitmproxy flow."""

from __future__ import annotations

import json
from weakref import WeakKeyDictionary

from mitmproxy import http

from flowproof_addons.dialects.base import Dialect, ErrorText, WireReply
from flowproof_addons.live.crossing import Crossing
from flowproof_addons.live.progress import Live
from flowproof_addons.live.route import unreachable

_crossings: WeakKeyDictionary[http.HTTPFlow, Crossing] = WeakKeyDictionary()
"""Not in the flow's metadata: mitmproxy copies and saves that, and a crossing is alive."""

_OWN_HOSTS = ("127.0.0.1", "localhost", "[::1]")

type Sessions = dict[int, Live]
"""Live sessions by the port of their model listener."""


def port(flow: http.HTTPFlow) -> int:
    """The listener the client connected to: it tells the session."""
    return int(flow.client_conn.sockname[1])


def foreign(request: http.Request) -> bool:
    """A browser page, or a name that merely resolves to loopback (DNS rebinding): nobody we answer."""
    host = request.host_header or ""
    host = host if host.endswith("]") else host.rpartition(":")[0] or host
    return "origin" in request.headers or host not in _OWN_HOSTS


def turn_away(flow: http.HTTPFlow) -> None:
    """What a foreign request is answered."""
    send(flow, WireReply(421, {"content-type": "text/plain"}, b"flowproof answers loopback clients only\n"))


def unreached(flow: http.HTTPFlow, reason: str) -> str:
    """What the user is told when the connection to a flow's upstream failed."""
    origin = f"{flow.request.scheme}://{flow.request.host}:{flow.request.port}"
    return unreachable(origin, flow.server_conn.via[1] if flow.server_conn.via else None, reason)


def attach(flow: http.HTTPFlow, crossing: Crossing) -> None:
    """Make the crossing known to the hooks after this one."""
    _crossings[flow] = crossing


def of(flow: http.HTTPFlow) -> Crossing | None:
    """The crossing of a flow that is ours, else None (a flow loaded from a file, an MCP listener's)."""
    return _crossings.get(flow)


def detach(flow: http.HTTPFlow) -> None:
    """The flow is no crossing any more: another one carries it on."""
    _crossings.pop(flow, None)


def cut_off(flow: http.HTTPFlow, sent: int) -> None:
    """Close the connection after `sent` bytes, one short of what is announced: what a client of a cut stream saw."""
    if flow.response is not None:
        flow.response.headers["content-length"] = str(sent + 1)
        flow.response.headers["connection"] = "close"


def send(flow: http.HTTPFlow, reply: WireReply) -> None:
    """Answer the flow without an upstream."""
    headers = http.Headers(
        tuple(
            (k.encode("utf-8", "surrogateescape"), v.encode("utf-8", "surrogateescape"))
            for k, v in reply.headers.items()
        )
    )
    flow.response = http.Response.make(reply.status, reply.body, headers)


def refuse(flow: http.HTTPFlow, text: ErrorText, dialect: Dialect | None) -> None:
    """Answer with an error the client shows and does not retry."""
    if dialect is not None:
        send(flow, dialect.error(text))
        return
    body = json.dumps({"error": {"message": text.message, "type": "flowproof_error", "code": text.code}})
    headers = {"content-type": "application/json", "x-should-retry": "false"}
    send(flow, WireReply(400, headers, body.encode()))
