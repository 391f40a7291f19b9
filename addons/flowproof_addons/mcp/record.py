"""Watches a real server's traffic: what is forwarded unchanged is written down, what the spec answers is held back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from flowproof_addons.mcp import faulty
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.faulty import LaneFaults
from flowproof_addons.mcp.findings import Findings
from flowproof_addons.mcp.journal import Journal
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.pace import FRAME_GAP_S, after_answer
from flowproof_addons.mcp.peer import NOTED, Peer
from flowproof_addons.mcp.policy import Local, Policy
from flowproof_addons.session import McpFault
from flowproof_addons.trace.model import JsonValue

_BOUND = frozenset(
    {"notifications/message", "sampling/createMessage", "elicitation/create", "roots/list", "notifications/progress"}
)
"""Server messages that belong to the one call that is open, where the transport does not say."""


@dataclass(slots=True, eq=False)
class Open:
    """A request of the agent that has no answer yet."""

    peer: Peer
    message: Message
    opened: float
    number: int | None
    """In the journal; None for a catalogue request."""
    last_frame: float = float("-inf")
    cancelled: bool = False
    slow_s: float = 0.0
    """A fault: the answer comes no earlier than so long after the request."""
    arrived: float | None = None
    """When the server answered, if the answer is being held back."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A request of the server that the agent has not answered yet."""

    peer: Peer
    message: Message
    write: Callable[[Message], None]


@dataclass(slots=True)
class Recording:
    """One lane being recorded."""

    journal: Journal
    policy: Policy
    findings: Findings
    faults: LaneFaults = field(default_factory=LaneFaults)
    _open: list[Open] = field(default_factory=list)
    _pending: list[Pending] = field(default_factory=list)
    _sessions: int = 0

    def from_agent(self, peer: Peer, message: Message) -> Local | None:
        """Write a message of the agent down; an answer, if it must not reach the server."""
        self.journal.contacted = True
        match rpc.kind(message):
            case "request":
                return self._request(peer, message)
            case "notification":
                self._note(peer, message)
            case "answer":
                self._answered(peer, message)
        return None

    def from_server(
        self, peer: Peer, message: Message, within: Sequence[Message] | None = None, status: int = 200
    ) -> Message:
        """Write a message of the server down; returns what the agent is to get.

        `within`: the requests whose stream it came on, where there are such streams. The message is returned
        unchanged (the same object) unless the spec adds to it.
        """
        if rpc.kind(message) != "answer":
            self._sent(peer, message, within)
            return message
        request = self._request_of(peer, message, within)
        if request is None:
            self.journal.remark("the server answered a request that was not open")
            return message
        self._open.remove(request)
        outcome = rpc.outcome(message)
        if request.number is not None:
            now = self.journal.run.now()
            took = (now if request.arrived is None else request.arrived) - request.opened
            self.journal.closed(request.number, outcome, status, ms=round(1000 * took))
            self.journal.run.pace.closed(now)
            peer.answered = now
            return message
        if rpc.method(request.message) not in rpc.LIFECYCLE:
            peer.answered = self.journal.run.now()
        amended = self.policy.amend(outcome) if rpc.method(request.message) == "tools/list" else outcome
        self.journal.listed(request.message, amended, status)
        return message if amended is outcome else {**message, **amended}

    def delay(self, peer: Peer, message: Message, within: Sequence[Message] | None = None) -> float:
        """Seconds to hold a message back: overlapping answers are kept apart, and what follows the last of them."""
        now = self.journal.run.now()
        if rpc.kind(message) != "answer":
            return 0.0 if self.open(peer) else after_answer(peer, now)
        request = self._request_of(peer, message, within)
        if request is None or request.number is None:
            return 0.0
        request.arrived = now
        apart = self.journal.run.pace.delay(request.opened, now)
        return max(apart, request.last_frame + FRAME_GAP_S - now, request.opened + request.slow_s - now)

    async def hold(self, peer: Peer, message: Message, within: Sequence[Message] | None = None) -> None:
        """Wait until a message may go to the agent."""
        wait = self.delay(peer, message, within)
        if wait > 0:
            await asyncio.sleep(wait)

    def open(self, peer: Peer) -> list[Open]:
        """The agent's requests on this connection that have no answer yet."""
        return [request for request in self._open if request.peer is peer]

    def owes(self, peer: Peer) -> bool:
        """True while an answer is to come on this connection."""
        return any(not r.cancelled and rpc.method(r.message) != rpc.LISTEN for r in self.open(peer))

    def cancel(self, message: Message) -> None:
        """The agent gave this request up; once it has been answered that means nothing."""
        for request in self._open:
            if request.message is message and request.number is not None:
                request.cancelled = True
                self.journal.cancelled(request.number)

    def forget(self, message: Message) -> None:
        """No answer will come for this request."""
        self._open = [request for request in self._open if request.message is not message]

    def _join(self, peer: Peer) -> int:
        if peer.session is None:
            peer.session = self._sessions
            self._sessions += 1
        return peer.session

    def _request(self, peer: Peer, message: Message) -> Local | None:
        number, local = None, None
        fault = self.faults.due(message)
        if fault is not None and fault.kind != "slow":
            return self._fail(peer, message, fault)
        if rpc.method(message) not in rpc.CATALOGUE:
            local = self.policy.answer(message)
            number = self.journal.opened(message, self._join(peer), local.by if local else "server")
        if local is not None and number is not None:
            self.journal.closed(number, local.outcome, by=local.by)
            self.findings.local(local)
            return local
        slow_s = fault.seconds if fault is not None else 0.0
        self._open.append(Open(peer, message, self.journal.run.now(), number, slow_s=slow_s))
        return None

    def _fail(self, peer: Peer, message: Message, fault: McpFault) -> Local:
        number = self.journal.opened(message, self._join(peer), "fault")
        outcome = faulty.outcome(fault, message)
        if outcome is None:
            self.journal.cancelled(number)
            return Local({}, "fault", silent_s=fault.seconds)
        self.journal.closed(number, outcome, by="fault")
        return Local(outcome, "fault")

    def _note(self, peer: Peer, message: Message) -> None:
        method = rpc.method(message)
        if method in NOTED:
            self.journal.noted(message, self._join(peer))
        elif method == "notifications/cancelled":
            given_up = rpc.params(message).get("requestId")
            for request in self.open(peer):
                if _same(rpc.request_id(request.message), given_up):
                    self.cancel(request.message)

    def _answered(self, peer: Peer, message: Message) -> None:
        for pending in self._pending:
            if pending.peer is peer and _same(rpc.request_id(pending.message), rpc.request_id(message)):
                self._pending.remove(pending)
                pending.write(rpc.outcome(message))
                return

    def _sent(self, peer: Peer, message: Message, within: Sequence[Message] | None) -> None:
        call = self._call(peer, message, within)
        written = self.journal.sent(message, self._join(peer), call.number if call else None)
        if call is not None:
            call.last_frame = self.journal.run.now()
        if rpc.kind(message) == "request":
            self._pending.append(Pending(peer, message, written))

    def _candidates(self, peer: Peer, within: Sequence[Message] | None) -> list[Open]:
        if within is None:
            return self.open(peer)
        return [request for request in self._open if any(request.message is m for m in within)]

    def _request_of(self, peer: Peer, answer: Message, within: Sequence[Message] | None) -> Open | None:
        """The request an answer is for. Over HTTP a rejected request may be answered with the id null."""
        candidates, given = self._candidates(peer, within), rpc.request_id(answer)
        if within is not None and len(candidates) == 1:
            return candidates[0]
        return next((r for r in candidates if _same(rpc.request_id(r.message), given)), None)

    def _call(self, peer: Peer, message: Message, within: Sequence[Message] | None) -> Open | None:
        """The call a server message belongs to."""
        calls = [request for request in self._candidates(peer, within) if request.number is not None]
        subscription, token = rpc.meta(message).get(rpc.META_SUBSCRIPTION), rpc.params(message).get("progressToken")
        for request in calls:
            if token is not None and _same(rpc.meta(request.message).get("progressToken"), token):
                return request
            if subscription is not None and _same(rpc.request_id(request.message), subscription):
                return request
        alone = len(calls) == 1 and (within is not None or rpc.method(message) in _BOUND)
        return calls[0] if alone else None


def _same(left: JsonValue, right: JsonValue) -> bool:
    """Ids with their types: 1 and "1" are two requests."""
    return type(left) is type(right) and left == right
