"""Every recorded exchange to the journal; streams are relayed as they arrive and teed."""

from __future__ import annotations

from mitmproxy import http

from flowproof_addons.hooks.crossing import of, unreached
from flowproof_addons.hooks.fail_closed import fail_closed
from flowproof_addons.live import capture
from flowproof_addons.live.crossing import ABANDONED, Crossing
from flowproof_addons.trace.model import BytesBody, Reply


class Tracer:
    """The last hook: sees what the agent was answered."""

    @fail_closed
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        crossing = of(flow)
        if crossing is None or crossing.settled or crossing.due is not None or flow.response is None:
            return
        if not capture.streams(capture.media_type(flow.response.headers.items(True))):
            return

        def tee(data: bytes) -> bytes:
            crossing.chunks.append(data)
            return data

        flow.response.stream = tee

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> None:
        crossing = of(flow)
        if crossing is not None and not crossing.settled:
            _keep(flow, crossing, cut=False)

    @fail_closed
    def error(self, flow: http.HTTPFlow) -> None:
        """The client hung up, or the upstream did: keep what crossed; say it when nothing did."""
        crossing = of(flow)
        if crossing is None or crossing.settled:
            return
        if flow.response is not None:
            data = b"".join(crossing.chunks)
            kind = capture.media_type(flow.response.headers.items(True))
            _keep(flow, crossing, cut=not capture.finished(data, kind))
            return
        _lost(flow, crossing)


def _keep(flow: http.HTTPFlow, crossing: Crossing, *, cut: bool) -> None:
    response = flow.response
    assert response is not None
    crossing.settled = True
    data = b"".join(crossing.chunks) if crossing.chunks else (response.raw_content or b"")
    headers = list(response.headers.items(True))
    crossing.live.record(crossing, capture.reply(response.status_code, headers, data, crossing.dialect, cut=cut))


def _lost(flow: http.HTTPFlow, crossing: Crossing) -> None:
    """No answer at all: the agent gave up, the upstream cannot be reached, or it hung up (which a client retries)."""
    crossing.settled = True
    words = flow.error.msg if flow.error else "no answer"
    if "client disconnected" in words.lower():
        crossing.live.record(crossing, Reply(ABANDONED, BytesBody(b"")))
    elif flow.server_conn.error or (not flow.server_conn.connected and flow.server_conn.timestamp_tcp_setup is None):
        crossing.live.problem(unreached(flow, words))
    else:
        crossing.live.record(crossing, Reply(502, BytesBody(words.encode()), {"content-type": "text/plain"}, cut=True))
