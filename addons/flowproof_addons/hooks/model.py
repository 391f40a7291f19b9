"""The model boundary: a request is forwarded to its fixed upstream, or answered from the cassette."""

from __future__ import annotations

import os

from mitmproxy import http

from flowproof_addons.dialects.base import ErrorText
from flowproof_addons.hooks.crossing import cut_off, of, refuse, send
from flowproof_addons.hooks.fail_closed import fail_closed
from flowproof_addons.live.answer import answer
from flowproof_addons.live.crossing import ABANDONED, AFTER, Crossing
from flowproof_addons.live.proxies import authorization
from flowproof_addons.live.route import route
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.session import Upstream
from flowproof_addons.trace import credentials


class Model:
    """Capture at record, replay at replay. An exception here meets the fence."""

    @fail_closed
    async def request(self, flow: http.HTTPFlow) -> None:
        crossing = of(flow)
        if crossing is None or flow.response is not None or crossing.settled:
            return
        if crossing.live.stopped:
            crossing.settled = True
            refuse(flow, ErrorText(AFTER, "flowproof_after_divergence"), crossing.dialect)
        elif crossing.live.replaying:
            await _replay(flow, crossing)
        else:
            forward(flow, crossing)

    def http_connect_upstream(self, flow: http.HTTPFlow) -> None:
        """The proxy's own credentials, where the shell has some, go to the proxy and no further."""
        address = flow.server_conn.address
        word = authorization((address[0], address[1]), os.environ) if address else None
        if word is not None:
            flow.request.headers["proxy-authorization"] = word


async def _replay(flow: http.HTTPFlow, crossing: Crossing) -> None:
    crossing.settled = True
    found = crossing.live.match(crossing)
    if isinstance(found, Divergence):
        flow.marked, flow.comment = ":red_circle:", found.headline
        refuse(flow, ErrorText(f"flowproof: {found.headline}"), crossing.dialect)
        return
    if found.status == ABANDONED:
        await crossing.live.closed.wait()
        flow.kill()
        return
    served = answer(found, crossing.dialect, crossing.request)
    send(flow, served.reply)
    if served.cut:
        cut_off(flow, len(served.reply.body))


def forward(flow: http.HTTPFlow, crossing: Crossing) -> None:
    """Point a flow at its upstream, with our key on it; a session without an upstream for it refuses."""
    upstream = _upstream(crossing)
    if upstream is None:
        words = f"no upstream for {flow.request.method} {crossing.request.path}"
        crossing.settled = True
        crossing.live.problem(f"{words}; set FLOWPROOF_AGENT_UPSTREAM to the base URL of the model API")
        refuse(flow, ErrorText(f"flowproof: {words}", "flowproof_no_upstream"), crossing.dialect)
        return
    name = crossing.dialect.name if crossing.dialect else None
    way = route(upstream.url, crossing.request.path, name, os.environ)
    query = f"?{crossing.request.query}" if crossing.request.query else ""
    flow.request.scheme, flow.request.host, flow.request.port = way.scheme, way.host, way.port
    flow.request.path = way.path + query
    flow.request.host_header = way.host if way.port in (80, 443) else f"{way.host}:{way.port}"
    if way.proxy is not None:
        flow.server_conn.via = ("http", way.proxy)
    _credentials(flow, crossing, upstream)


def _credentials(flow: http.HTTPFlow, crossing: Crossing, upstream: Upstream) -> None:
    """Our key in place of the agent's placeholder; no key of ours: the agent's own headers, untouched."""
    headers = flow.request.headers
    headers["accept-encoding"] = "identity"
    nominated = {name.strip().lower() for name in headers.get("connection", "").split(",")} - {"", "close", "upgrade"}
    for name in {"proxy-connection", "proxy-authorization", "keep-alive", "te", *nominated}:
        headers.pop(name, None)
    if not upstream.key:
        return
    for name in [n for n in headers if credentials.is_header(n)]:
        del headers[name]
    if crossing.dialect is not None:
        headers.update(crossing.dialect.authorize(upstream.key))
    else:
        headers["authorization"] = f"Bearer {upstream.key}"


def _upstream(crossing: Crossing) -> Upstream | None:
    upstreams = crossing.live.session.upstreams
    name = crossing.dialect.name if crossing.dialect else "*"
    return upstreams.get(name) or upstreams.get("*")
