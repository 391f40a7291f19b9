"""Memory: mitmproxy's flows are cycles that hold whole bodies, and Python's collector counts objects, not bytes."""

from __future__ import annotations

import gc

from mitmproxy import http

_ENOUGH_BYTES = 32 * 1024 * 1024
"""Of bodies seen since the last collection; parsed, they take several times as much."""


class Garbage:
    """Collects by what the flows weighed, and never looks again at what was there at the start."""

    def __init__(self) -> None:
        self._seen = 0

    def running(self) -> None:
        gc.freeze()  # mitmproxy's own two hundred thousand objects, for each collection to come

    def response(self, flow: http.HTTPFlow) -> None:
        self._weigh(flow)

    def error(self, flow: http.HTTPFlow) -> None:
        self._weigh(flow)

    def _weigh(self, flow: http.HTTPFlow) -> None:
        bodies = (flow.request.raw_content, flow.response.raw_content if flow.response else None)
        self._seen += sum(len(body) for body in bodies if body)
        if self._seen > _ENOUGH_BYTES:
            self._seen = 0
            gc.collect()
