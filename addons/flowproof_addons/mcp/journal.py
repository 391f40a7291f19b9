"""Writes a lane down as it happens, in both phases, and tells the runner of each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.lane import Author, Call, Frame, Lane, Listing, Note
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.pace import Pace
from flowproof_addons.trace.model import JsonValue

type Emit = Callable[[dict[str, JsonValue]], None]

_PROGRESS = "notifications/progress"
_TOOL_USE = ("claudecode/toolUseId", "callId")
"""Where clients put the model's id of the tool call (claude-code, codex; seen on the wire)."""


@dataclass(slots=True)
class Run:
    """What all lanes of one flow share."""

    emit: Emit
    turns_served: Callable[[], int]
    now: Callable[[], float]
    """Seconds, monotonic."""
    pace: Pace = field(default_factory=Pace)
    heard: Callable[[Call], None] = lambda call: None
    """Called with every call that was answered."""
    user_turn: Callable[[], int | None] = lambda: None
    """Where a conversation is."""
    on_open: Callable[[], None] = lambda: None
    """Called when a call arrives."""
    on_close: Callable[[], None] = lambda: None
    """Called when one was answered or given up: once for each that arrived."""
    ticks: int = 0

    def tick(self) -> int:
        """The next moment of the clock that puts everything of a run in order."""
        self.ticks += 1
        return self.ticks


@dataclass(slots=True)
class Journal:
    """One lane being written. Calls and frames are named by their index."""

    name: str
    run: Run
    transport: Literal["stdio", "http"] = "stdio"
    session_ids: bool = False
    push_status: int = 200
    contacted: bool = False
    """The agent sent something to this server."""
    calls: list[Call] = field(default_factory=list)
    pushes: list[Frame] = field(default_factory=list)
    catalogue: list[Listing] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    _started: dict[int, float] = field(default_factory=dict)

    def opened(self, message: Message, session: int, by: Author = "server") -> int:
        """A positional request arrived (or was let through, at replay)."""
        number = len(self.calls)
        params = rpc.compared(message)
        call = Call(
            method=rpc.method(message),
            params=params,
            opened=self.run.tick(),
            session=session,
            turns=self.run.turns_served(),
            user_turn=self.run.user_turn(),
            by=by,
            tool_use=next((v for n in _TOOL_USE if isinstance(v := rpc.meta(message).get(n), str)), ""),
        )
        self.calls.append(call)
        self._started[number] = self.run.now()
        self._tell("mcp.denied" if by == "enforce" else "mcp.dispatched", call)
        self.run.on_open()
        return number

    def closed(
        self, number: int, outcome: Message, status: int = 200, by: Author = "server", ms: int | None = None
    ) -> None:
        """A positional request was answered; `ms`: how long the server took, where that is known better."""
        if ms is None:
            ms = round(1000 * (self.run.now() - self._started[number]))
        before = self.calls[number]
        call = replace(before, closed=self.run.tick(), outcome=outcome, status=status, ms=ms, by=by)
        self.calls[number] = call
        if before.closed is None and before.cancelled is None:
            self.run.on_close()
        self._tell("mcp.returned", call, ms=ms)
        if by not in ("enforce", "fault"):
            self.run.heard(call)

    def cancelled(self, number: int) -> None:
        """The agent gave a call up while it was open."""
        if self.calls[number].closed is None and self.calls[number].cancelled is None:
            self.run.on_close()
        self.calls[number] = replace(self.calls[number], cancelled=self.run.tick())

    def sent(self, message: Message, session: int, call: int | None) -> Callable[[Message], None]:
        """The server sent a message of its own; returns what to do with the agent's answer, should there be one."""
        frame = Frame(at=self.run.tick(), message=kept(message, call), session=session)
        if call is None:
            self.pushes.append(frame)
            number = len(self.pushes) - 1
        else:
            earlier = self.calls[call].frames
            number = len(earlier)
            self.calls[call] = replace(self.calls[call], frames=(*earlier, frame))

        def answered(outcome: Message) -> None:
            done = replace(frame, answer=outcome, answered=self.run.tick())
            if call is None:
                self.pushes[number] = done
            else:
                frames = list(self.calls[call].frames)
                frames[number] = done
                self.calls[call] = replace(self.calls[call], frames=tuple(frames))

        return answered

    def noted(self, message: Message, session: int) -> None:
        """The agent sent a notification."""
        self.notes.append(Note(at=self.run.tick(), session=session, method=rpc.method(message)))

    def listed(self, message: Message, outcome: Message, status: int = 200) -> None:
        """A catalogue request was answered; one that says what the last one said is not written again."""
        listing = Listing(
            method=rpc.method(message),
            params=rpc.compared(message),
            protocol=rpc.protocol(message),
            outcome=outcome,
            after=self.answered,
            status=status,
        )
        if not self._known(listing):
            self.catalogue.append(listing)

    def remark(self, words: str) -> None:
        """Something a reader should know, once."""
        if words not in self.remarks:
            self.remarks.append(words)

    @property
    def answered(self) -> int:
        """How many positional calls have been answered."""
        return sum(1 for call in self.calls if call.closed is not None and call.by != "fault")

    def lane(self) -> Lane:
        """What was written."""
        return Lane(
            transport=self.transport,
            calls=tuple(self.calls),
            catalogue=tuple(self.catalogue),
            pushes=tuple(self.pushes),
            notes=tuple(self.notes),
            session_ids=self.session_ids,
            push_status=self.push_status,
            remarks=tuple(self.remarks),
        )

    def _known(self, listing: Listing) -> bool:
        same = rpc.key(listing.method, listing.params, listing.protocol)
        earlier = [k for k in self.catalogue if rpc.key(k.method, k.params, k.protocol) == same]
        return bool(earlier) and earlier[-1].outcome == listing.outcome and earlier[-1].status == listing.status

    def _tell(self, event: str, call: Call, **more: JsonValue) -> None:
        tool = rpc.tool(call.method, call.params)
        if tool:
            self.run.emit({"event": event, "server": self.name, "tool": tool, "turns": call.turns, **more})


def kept(message: Message, call: int | None) -> Message:
    """A server message as it is stored: what the request's own ids put into it is left out, replay puts its own in."""
    params: Mapping[str, JsonValue] = rpc.params(message)
    if call is None or not params:
        return message
    if rpc.method(message) == _PROGRESS:
        return {**message, "params": {n: v for n, v in params.items() if n != "progressToken"}}
    meta = rpc.meta(message)
    if rpc.META_SUBSCRIPTION in meta:
        rest: Message = {n: v for n, v in meta.items() if n != rpc.META_SUBSCRIPTION}
        return {**message, "params": {**params, "_meta": {**rest, rpc.META_SUBSCRIPTION: None}}}
    return message


def restored(message: Message, request: Message) -> Message | None:
    """A stored server message for the request of this run; None if the agent did not ask for it (no progress token)."""
    params = rpc.params(message)
    if rpc.method(message) == _PROGRESS and "progressToken" not in params:
        token = rpc.meta(request).get("progressToken")
        return None if token is None else {**message, "params": {"progressToken": token, **params}}
    meta = rpc.meta(message)
    if meta.get(rpc.META_SUBSCRIPTION, 0) is None:
        own = {**meta, rpc.META_SUBSCRIPTION: rpc.request_id(request)}
        return {**message, "params": {**params, "_meta": own}}
    return message
