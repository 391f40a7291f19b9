"""The spec's tool results into the request, before it is matched or sent."""

from __future__ import annotations

from mitmproxy import http

from flowproof_addons.hooks.crossing import of, refuse
from flowproof_addons.hooks.fail_closed import fail_closed
from flowproof_addons.live.mocks import MocksExhausted
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonBody


class Substitute:
    """Rewrites tool results the spec authored; leaves every other byte of a request alone."""

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> None:
        crossing = of(flow)
        if crossing is None or crossing.dialect is None or flow.response is not None:
            return
        live = crossing.live
        try:
            told = live.substitute(crossing.request, crossing.dialect)
        except MocksExhausted as error:
            crossing.settled = True
            refuse(flow, live.exhausted(error), crossing.dialect)
            return
        if told is crossing.request:
            return
        crossing.request = told
        if not live.replaying and isinstance(told.body, JsonBody):
            flow.request.headers.pop("content-encoding", None)
            flow.request.content = json_value.compact(told.body.value).encode("utf-8", "surrogatepass")
