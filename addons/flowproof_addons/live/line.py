"""One WebSocket of an agent to a model: its messages as the turns they would be over HTTP.

The client sends `response.create` with the members of the HTTP body; the server answers with the events an HTTP
stream would hold, each as a message, or with one `error` that holds an HTTP status. Streams that share a socket name
themselves in `stream_id`. https://developers.openai.com/api/docs/guides/websocket-mode (read 2026-12-02).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from flowproof_addons.dialects import framing, raw
from flowproof_addons.dialects.base import Dialect, ErrorText, StreamEvent
from flowproof_addons.live import capture
from flowproof_addons.live.crossing import ABANDONED, AFTER, Crossing
from flowproof_addons.live.mocks import MocksExhausted
from flowproof_addons.live.progress import Live
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.trace import body
from flowproof_addons.trace.json_value import JsonError, compact, parse
from flowproof_addons.trace.model import Body, BytesBody, JsonBody, JsonValue, Reply, Request

CREATE = "response.create"

_FINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "error"})
_STREAM = [("content-type", "text/event-stream; charset=utf-8")]

type Object = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done about a message of the agent."""

    forward: str | None = None
    """What the upstream is to get; None: nothing."""
    events: tuple[str, ...] = ()
    """What the agent is told at once."""
    hang_up: bool = False
    """The socket breaks after that."""
    crossing: Crossing | None = None


@dataclass(slots=True)
class _Waiting:
    """A turn whose answer is under way."""

    crossing: Crossing
    frames: list[bytes] = field(default_factory=list)


class Line:
    """Reads the messages of one socket. `opening`: the request that asked for it."""

    def __init__(self, live: Live, dialect: Dialect, opening: Request) -> None:
        self.live = live
        self.dialect = dialect
        self._opening = opening
        self._waiting: dict[str, deque[_Waiting]] = {}
        self._frames = framing.of(dialect.framing)

    def asked(self, text: str) -> Step:
        """The agent said this: a turn, answered from the cassette at replay, else forwarded."""
        message = _object(text)
        if message.get("type") != CREATE:
            kind = raw.as_text(message.get("type")) or "a message that is no JSON object"
            words = f"{kind}: of what can be said over a WebSocket flowproof knows {CREATE}"
            self.live.problem(words)
            return self._refused(ErrorText(f"flowproof: {words}", "flowproof_unreadable"), message)
        said: JsonValue = {name: value for name, value in message.items() if name != "type"}
        crossing = Crossing(self.live, self._request(said), self.dialect)
        self.live.arrived(crossing)
        try:
            crossing.request = self.live.substitute(crossing.request, self.dialect)
        except MocksExhausted as error:
            return self._refused(self.live.exhausted(error), message)
        if self.live.stopped:
            return self._refused(ErrorText(AFTER, "flowproof_after_divergence"), message)
        if self.live.replaying:
            return self._replayed(crossing, message)
        told = raw.of_body(crossing.request.body)
        self._waiting.setdefault(_stream(message), deque()).append(_Waiting(crossing))
        return Step(forward=text if told == said else compact({"type": CREATE, **told}), crossing=crossing)

    def told(self, text: str) -> Crossing | None:
        """The upstream said this; the turn that is whole by it."""
        event = _object(text)
        queue = self._waiting.get(_stream(event))
        if not queue:
            return None
        turn, kind = queue[0], raw.as_text(event.get("type"))
        status = raw.as_int(event.get("status"))
        if kind == "error" and status is not None and not turn.frames:
            told: JsonValue = {name: value for name, value in event.items() if name not in ("type", "status")}
            self.live.record(turn.crossing, Reply(status, JsonBody(told), {"content-type": "application/json"}))
        else:
            turn.frames.append(self._frames.render(StreamEvent(text, kind or None)))
            if kind not in _FINAL:
                return None
            self._record(turn, cut=False)
        queue.popleft()
        return turn.crossing

    def ended(self, *, by_client: bool) -> None:
        """The socket is closed: what was under way stays as far as it came."""
        for turn in [turn for queue in self._waiting.values() for turn in queue]:
            if turn.frames or not by_client:
                self._record(turn, cut=True)
            else:
                self.live.record(turn.crossing, Reply(ABANDONED, BytesBody(b"")))
        self._waiting.clear()

    def _record(self, turn: _Waiting, *, cut: bool) -> None:
        data = b"".join(turn.frames)
        self.live.record(turn.crossing, capture.reply(200, _STREAM, data, self.dialect, cut=cut))

    def _request(self, said: JsonValue) -> Request:
        """The turn as it would come over HTTP."""
        asked = body.request("POST", self._opening.path, {"content-type": "application/json"}, compact(said).encode())
        return replace(asked, query=self._opening.query, headers={**self._opening.headers, **asked.headers})

    def _replayed(self, crossing: Crossing, message: Object) -> Step:
        found = self.live.match(crossing)
        if isinstance(found, Divergence):
            return replace(self._refused(ErrorText(f"flowproof: {found.headline}"), message), crossing=crossing)
        if found.status == ABANDONED:
            return Step(crossing=crossing)
        if found.status >= 400:
            return Step(events=(_error(found.status, found.body, message),), hang_up=found.cut, crossing=crossing)
        return Step(events=tuple(self._events(found, crossing.request)), hang_up=found.cut, crossing=crossing)

    def _events(self, reply: Reply, request: Request) -> Sequence[str]:
        if reply.frames is not None:
            return [event.data for event in self._frames.events(reply.frames)]
        whole = reply.body.value if isinstance(reply.body, JsonBody) else None
        return [event.data for event in self.dialect.synthesise(whole, request)]

    def _refused(self, text: ErrorText, message: Object) -> Step:
        refusal = self.dialect.error(text)
        return Step(events=(_error(refusal.status, body.read(refusal.body, "application/json"), message),))


def _error(status: int, told: Body, message: Object) -> str:
    """An HTTP error as the socket has it, on the stream that asked."""
    words: JsonValue = {"error": {"message": body.wire(told, "").decode("utf-8", "replace")}}
    held = raw.as_object(told.value if isinstance(told, JsonBody) else words)
    named: Object = {"stream_id": message["stream_id"]} if "stream_id" in message else {}
    return compact({"type": "error", "status": status, **named, **held})


def _object(text: str) -> Object:
    try:
        return raw.as_object(parse(text))
    except JsonError:
        return {}


def _stream(message: Object) -> str:
    return raw.as_text(message.get("stream_id"))
