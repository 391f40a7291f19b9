"""What people see in mitmweb, mitmproxy and `mitmdump --flow-detail 3`: conversations instead of JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from mitmproxy import contentviews, ctx, http
from mitmproxy.contentviews import Metadata

from flowproof_addons.dialects.base import Dialect, Registry
from flowproof_addons.hooks.crossing import of, port
from flowproof_addons.hooks.facts import Facts, facts_of, note
from flowproof_addons.live import capture, label, mcp_transcript, transcript
from flowproof_addons.live.crossing import Crossing
from flowproof_addons.live.transcript import About
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp import sse
from flowproof_addons.trace import body, credentials
from flowproof_addons.trace.model import Exchange, JsonBody, Reply, Request

PRIORITY = 2
"""Above mitmproxy's own views of JSON and of streams."""


class ConversationView(contentviews.Contentview):
    """A model turn: what was said, called and told."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @property
    def name(self) -> str:
        return "Conversation"

    @property
    def syntax_highlight(self) -> Literal["yaml"]:
        return "yaml"

    def render_priority(self, data: bytes, metadata: Metadata) -> float:
        return PRIORITY if self._dialect(metadata) is not None else -1

    def prettify(self, data: bytes, metadata: Metadata) -> str:
        dialect, flow, message = self._dialect(metadata), metadata.flow, metadata.http_message
        if dialect is None or not isinstance(flow, http.HTTPFlow):
            raise ValueError("not a model turn")
        known = facts_of(flow)
        about = About(known.turn, transcript.compared(known.equality, known.rules), known.divergence)
        if isinstance(message, http.Request):
            crossing = of(flow)
            return transcript.request(crossing.request if crossing else _request(message, data), dialect, about)
        assert isinstance(message, http.Response)
        return transcript.reply(_reply(message, data, dialect), dialect, about)

    def _dialect(self, metadata: Metadata) -> Dialect | None:
        flow = metadata.flow
        if not isinstance(flow, http.HTTPFlow) or metadata.http_message is None:
            return None
        known = facts_of(flow).dialect
        path = flow.request.path.partition("?")[0]
        return self._registry.named(known) if known else self._registry.find(flow.request.method, path)


class McpView(contentviews.Contentview):
    """MCP messages: calls with their arguments, results with their text."""

    @property
    def name(self) -> str:
        return "MCP"

    @property
    def syntax_highlight(self) -> Literal["yaml"]:
        return "yaml"

    def render_priority(self, data: bytes, metadata: Metadata) -> float:
        flow = metadata.flow
        if not isinstance(flow, http.HTTPFlow) or not data:
            return -1
        claimed = facts_of(flow).server or flow.request.path.partition("?")[0].rstrip("/").endswith("/mcp")
        return PRIORITY if claimed and _messages(data, metadata) else -1

    def prettify(self, data: bytes, metadata: Metadata) -> str:
        messages = _messages(data, metadata)
        if not messages:
            raise ValueError("no MCP message")
        known = facts_of(metadata.flow) if isinstance(metadata.flow, http.HTTPFlow) else Facts()
        return mcp_transcript.transcript(messages, known.remark)


class Annotator:
    """Says in mitmweb's list what each flow was, and keeps keys out of it."""

    def __init__(self, registry: Registry, server: Callable[[int], str]) -> None:
        self._registry = registry
        self._server = server
        """Given a listener's port: the MCP server behind it, or nothing."""

    def load(self, loader: object) -> None:
        contentviews.add(ConversationView(self._registry))
        contentviews.add(McpView())

    def request(self, flow: http.HTTPFlow) -> None:
        server = self._server(port(flow)) if flow.live and _watched() else ""
        if server:
            _note_lane(flow, server)

    def response(self, flow: http.HTTPFlow) -> None:
        self._note(flow)

    def error(self, flow: http.HTTPFlow) -> None:
        self._note(flow)

    def _note(self, flow: http.HTTPFlow) -> None:
        crossing = of(flow)
        if crossing is not None and _watched():
            _note_crossing(flow, crossing)
            hide(flow.request.headers)


def _watched() -> bool:
    """True under mitmweb and mitmproxy; mitmdump keeps no flows."""
    return ctx.master.addons.get("view") is not None


def comment(exchange: Exchange, number: int | None, registry: Registry) -> str:
    """The line beside an exchange."""
    if isinstance(exchange.divergence, dict):
        return label.diverged(number, str(exchange.divergence.get("message", "")))
    if exchange.dialect is None:
        return "side call"
    dialect, answered = registry.named(exchange.dialect), exchange.reply
    read = dialect.read_reply(answered.body.value) if dialect and isinstance(answered.body, JsonBody) else None
    told = label.turn(number, exchange.dialect, read, status=answered.status)
    return told if exchange.user_turn is None else f"user turn {exchange.user_turn} · {told}"


def mark(flow: http.HTTPFlow, exchange: Exchange, number: int | None, registry: Registry) -> None:
    """Put all that is known of an exchange on its flow."""
    divergence = exchange.divergence if isinstance(exchange.divergence, dict) else None
    note(flow, Facts(exchange.dialect or "", number, exchange.equality, exchange.rules, divergence))
    flow.comment = comment(exchange, number, registry)
    if divergence is not None:
        flow.marked = ":red_circle:"


def _note_crossing(flow: http.HTTPFlow, crossing: Crossing) -> None:
    live = crossing.live
    if crossing.exchange is not None:
        mark(flow, crossing.exchange, crossing.turn, live.registry)
    else:
        flow.comment = "after the run had diverged" if live.stopped else "✗ answered by flowproof"
    flow.comment = f"{live.session.id} · {flow.comment}"


def _note_lane(flow: http.HTTPFlow, server: str) -> None:
    note(flow, Facts(server=server))
    messages = rpc.read(flow.request.get_content(strict=False) or b"")
    for message in (messages or [])[:1]:
        params = rpc.params(message)
        tool = rpc.tool(rpc.method(message), params)
        flow.comment = label.mcp(server, rpc.method(message) or "answer", tool, params.get("arguments") or {})


def hide(headers: http.Headers) -> None:
    """The request has been sent: what authorized it is shown and saved by nobody."""
    for name in [name for name in headers if credentials.is_header(name)]:
        headers[name] = "(hidden by flowproof)"


def _request(message: http.Request, data: bytes) -> Request:
    headers = {name: value for name, value in message.headers.items() if name.lower() != "content-encoding"}
    return body.request(message.method, message.path, headers, data)


def _reply(message: http.Response, data: bytes, dialect: Dialect) -> Reply:
    headers = [(name, value) for name, value in message.headers.items(True) if name.lower() != "content-encoding"]
    return capture.reply(message.status_code, headers, data, dialect, cut=False)


def _messages(data: bytes, metadata: Metadata) -> list[rpc.Message]:
    if (metadata.content_type or "").startswith("text/event-stream"):
        found = (rpc.read(event.data) for event in sse.Splitter().feed(data + b"\n\n"))
        return [message for messages in found if messages for message in messages]
    return rpc.read(data) or []
