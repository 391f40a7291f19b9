"""Sends what arrives on an MCP listener to its lane server, the one loopback address the fence lets it have."""

from __future__ import annotations

from collections.abc import Mapping

from mitmproxy import http

from flowproof_addons.hooks.crossing import foreign, port, turn_away
from flowproof_addons.hooks.fail_closed import fail_closed
from flowproof_addons.mcp.http import GONE


class McpLanes:
    """Routes MCP flows. The answers are made by the lane server: mitmproxy cannot make up a stream."""

    def __init__(self, lanes: Mapping[int, tuple[str, int]]) -> None:
        self._lanes = lanes
        """Per listener port: the lane server's address."""

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> None:
        lane = self._lanes.get(port(flow))
        if lane is None or flow.response is not None or not flow.live:
            return
        if foreign(flow.request):
            turn_away(flow)
            return
        flow.request.scheme = "http"
        flow.request.host, flow.request.port = lane

    @fail_closed
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        if port(flow) in self._lanes and flow.response is not None:
            if GONE in flow.response.headers:
                flow.kill()
                return
            flow.response.stream = flow.response.headers.get("content-type", "").startswith("text/event-stream")
