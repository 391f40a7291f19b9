"""Plays a server from its recorded lane: answers by position, in recorded order, with no server there."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

from flowproof_addons.mcp import divergence, score
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.findings import Findings
from flowproof_addons.mcp.journal import Journal, restored
from flowproof_addons.mcp.lane import Frame, Lane, Listing
from flowproof_addons.mcp.message import Key, Message
from flowproof_addons.mcp.pace import FRAME_GAP_S
from flowproof_addons.mcp.peer import NOTED, Peer
from flowproof_addons.mcp.policy import Local, Policy
from flowproof_addons.mcp.queue import Queue
from flowproof_addons.mcp.veil import Veil

QUIET_S = 0.8
"""A call that came before an earlier recorded one waits for that one until the lane has been silent this long."""
PATIENCE_S = 2.0
"""How long an answer waits for something the agent did first when recorded and has not done now."""


_OVER = "the run has diverged from its recording"


@dataclass(slots=True)
class Asked:
    """A positional call of this run."""

    peer: Peer
    message: Message
    key: Key
    place: int
    local: Local | None = None
    """The spec's own answer, if it has one."""
    number: int = -1
    """In the journal, once it is let through."""
    opened: float = 0.0
    last_frame: float = float("-inf")


@dataclass(frozen=True, slots=True)
class Pending:
    """A server request the agent has not answered yet."""

    peer: Peer
    message: Message
    frame: Frame
    journal: Callable[[Message], None]


class Replay:
    """One lane being replayed. Everything happens on the event loop, in `receive` or in a timer."""

    def __init__(self, journal: Journal, recorded: Lane, policy: Policy, findings: Findings, veil: Veil) -> None:
        self.journal = journal
        self._recorded = recorded
        self._policy = policy
        self._findings = findings
        self._veil = veil
        self._loop = asyncio.get_running_loop()
        self._queue = Queue([rpc.key(c.method, c.params) for c in recorded.calls])
        self._catalogue: dict[Key, list[Listing]] = defaultdict(list)
        for listing in recorded.catalogue:
            self._catalogue[rpc.key(listing.method, listing.params, listing.protocol)].append(listing)
        self._steps = score.score(recorded)
        self._cursor = 0
        self._happened: set[int] = set()
        self._waiting: dict[int, Asked] = {}
        self._open: dict[int, Asked] = {}
        self._tickets = 0
        self._peers: dict[int, Peer] = {}
        self._requests: list[Pending] = []
        self._patience: asyncio.TimerHandle | None = None
        self._resume: asyncio.TimerHandle | None = None
        self._quiet: asyncio.TimerHandle | None = None

    def receive(self, peer: Peer, message: Message) -> None:
        """Take one message of the agent."""
        self.journal.contacted = True
        match rpc.kind(message):
            case "request" if rpc.method(message) in rpc.CATALOGUE:
                self._list(peer, message)
            case "request":
                self._ask(peer, message)
            case "notification":
                self._note(peer, message)
            case "answer":
                self._answered(peer, message)
        self._stay_quiet()
        self._advance()

    def leave(self, peer: Peer) -> None:
        """The connection is gone."""
        for ticket, asked in list(self._waiting.items()):
            if asked.peer is peer:
                del self._waiting[ticket]
                self._queue.give_back(asked.place, asked.key)

    def owes(self, peer: Peer) -> bool:
        """True while an answer is to come on this connection."""
        due = (asked for place, asked in self._open.items() if self._recorded.calls[place].closed is not None)
        return any(asked.peer is peer for asked in (*due, *self._waiting.values()))

    def abandon(self, peer: Peer, message: Message) -> None:
        """The agent gave one request up, by whatever means its transport has."""
        for place, asked in list(self._open.items()):
            if asked.peer is peer and asked.message is message:
                self._cancel(place)
        self._advance()

    def close(self) -> None:
        """Stop, and note what was recorded and not asked for."""
        for timer in (self._patience, self._resume, self._quiet):
            if timer is not None:
                timer.cancel()
        left = [self._recorded.calls[place] for place in self._queue.unclaimed]
        if left:
            self._findings.unserved([divergence.listed(call) for call in left])
        if self._queue.reordered:
            self.journal.remark(f"{self._queue.reordered} concurrent calls arrived in another order than recorded")

    # lifecycle and lists

    def _list(self, peer: Peer, message: Message) -> None:
        seen = self._veil.message(message)
        listings = self._catalogue.get(rpc.key(rpc.method(seen), rpc.compared(seen), rpc.protocol(seen)), [])
        due = [listing for listing in listings if listing.after <= self.journal.answered] or listings[:1]
        if due:
            outcome = self._policy.amend(self._veil.reveal(due[-1].outcome))
            self._answer_list(peer, message, outcome, due[-1].status)
        elif rpc.method(message) == "ping":
            self._answer_list(peer, message, {"result": {}})
        elif rpc.method(message) == "server/discover":
            self.journal.remark("the agent's client now probes with server/discover, which it did not when recorded")
            self._answer_list(peer, message, {"error": {"code": -32601, "message": "Method not found"}}, 404)
        else:
            self._refuse(peer, message, divergence.catalogue(self.journal.name, self._recorded, seen))

    def _answer_list(self, peer: Peer, message: Message, outcome: Message, status: int = 200) -> None:
        self.journal.listed(message, outcome, status)
        peer.answer(message, outcome, status)

    # calls

    def _ask(self, peer: Peer, message: Message) -> None:
        if self._findings.diverged:
            self._attempted(peer, message)
            peer.answer(message, rpc.error(_OVER))
            return
        seen = self._veil.message(message)
        key = rpc.key(rpc.method(seen), rpc.compared(seen))
        self._tickets += 1
        place = self._queue.claim(self._tickets, key)
        if place is None:
            report = divergence.call(self.journal.name, self._recorded, self._queue.first_free, seen)
            self._attempted(peer, message)
            self._refuse(peer, message, report)
            return
        self._join(peer)
        self._waiting[self._tickets] = Asked(peer, message, key, place)
        for released, ticket in self._queue.release():
            self._let_through(released, self._waiting.pop(ticket))

    def _let_through(self, place: int, asked: Asked) -> None:
        asked.local = self._policy.answer(asked.message)
        by = asked.local.by if asked.local else self._recorded.calls[place].by
        asked.number = self.journal.opened(asked.message, asked.peer.session or 0, by)
        asked.opened = self.journal.run.now()
        self._open[place] = asked
        if self._mark(score.Opened(place)):
            return
        for frame in self._recorded.calls[place].frames:  # its time was given up on: all of it now
            self._send(score.Sent(frame, place))
        self._finish(place)

    def _finish(self, place: int) -> None:
        """Answer a call that came after its time."""
        wait = self._close(place)
        if wait:
            self._loop.call_later(wait, self._finish, place)

    def _attempted(self, peer: Peer, message: Message) -> None:
        """Write down a call that gets no recorded answer: it did reach the server, which is what assertions ask."""
        local = self._policy.answer(message)
        self.journal.opened(message, peer.session or 0, local.by if local else "server")

    def _refuse(self, peer: Peer, message: Message, report: divergence.Divergence) -> None:
        """Answer what no recording answers; only the first is a finding, what follows it is a consequence."""
        self._findings.diverge(report)
        peer.answer(message, rpc.error(report.message))
        self._turn_away(_OVER)

    def _turn_away(self, words: str) -> None:
        """Answer every parked call with an error."""
        for asked in self._waiting.values():
            self._attempted(asked.peer, asked.message)
            asked.peer.answer(asked.message, rpc.error(words))
            self._queue.give_back(asked.place, asked.key)
        self._waiting.clear()

    def _stay_quiet(self) -> None:
        """Parked calls wait while the agent is still sending."""
        if self._quiet is not None:
            self._quiet.cancel()
        self._quiet = self._loop.call_later(QUIET_S, self._too_early) if self._waiting else None

    def _too_early(self) -> None:
        due = self._queue.first_free
        if not self._waiting or due is None:
            return
        asked = min(self._waiting.values(), key=lambda a: a.place)
        report = divergence.early(self.journal.name, self._recorded, asked.place, due)
        self._findings.diverge(report)
        self._turn_away(report.message)

    # notifications and answers of the agent

    def _note(self, peer: Peer, message: Message) -> None:
        method = rpc.method(message)
        if method in NOTED:
            self._join(peer)
            self.journal.noted(message, peer.session or 0)
            self._mark(score.Noted(method, peer.session or 0))
        elif method == "notifications/cancelled":
            wanted = rpc.params(message).get("requestId")
            for place, asked in list(self._open.items()):
                if asked.peer is peer and rpc.request_id(asked.message) == wanted:
                    self._cancel(place)

    def _cancel(self, place: int) -> None:
        asked = self._open[place]
        self.journal.cancelled(asked.number)
        recorded = self._recorded.calls[place]
        if recorded.cancelled is None:
            self.journal.remark(f"the agent gave up {divergence.listed(recorded)}, which it did not when recorded")
        self._mark(score.Cancelled(place))
        if recorded.closed is None:
            del self._open[place]

    def _answered(self, peer: Peer, message: Message) -> None:
        for index, pending in enumerate(self._requests):
            if pending.peer is peer and rpc.request_id(pending.message) == rpc.request_id(message):
                del self._requests[index]
                pending.journal(rpc.outcome(message))
                said, recorded = rpc.outcome(self._veil.message(message)), pending.frame.answer or {}
                report = divergence.answer(self.journal.name, pending.message, recorded, said)
                if report is not None:
                    self._findings.diverge(report)
                self._mark(score.Answered(pending.frame))
                return

    # the score

    def _join(self, peer: Peer) -> None:
        if peer.session is None:
            peer.session = len(self._peers)
            self._peers[peer.session] = peer

    def _mark(self, step: score.Awaited) -> bool:
        """Something awaited happened; the earliest such step counts. False if there is none ahead."""
        for index in range(self._cursor, len(self._steps)):
            if index not in self._happened and self._steps[index] == step:
                self._happened.add(index)
                return True
        return False

    def _advance(self) -> None:
        """Do every step whose time has come."""
        self._disarm()
        while self._cursor < len(self._steps):
            wait = self._do(self._steps[self._cursor])
            if wait is None:
                self._arm()
                return
            if wait > 0:
                self._resume = self._loop.call_later(wait, self._advance)
                return
            self._cursor += 1

    def _do(self, step: score.Step) -> float | None:
        """0: done. Positive: seconds until it may be done. None: something awaited has not happened."""
        match step:
            case score.Sent():
                return self._send(step)
            case score.Closed():
                return self._close(step.call)
            case _:
                return 0 if self._cursor in self._happened else None

    def _send(self, step: score.Sent) -> float | None:
        asked = None if step.call is None else self._open.get(step.call)
        if step.call is not None and asked is None:
            return 0
        peer = asked.peer if asked else self._peers.get(step.frame.session)
        if peer is None:
            return 0 if self._cursor in self._happened else None
        message = self._veil.reveal(step.frame.message)
        if asked is not None:
            own = restored(message, asked.message)
            if own is None:
                return 0
            message = own
        answered = self.journal.sent(message, step.frame.session, asked.number if asked else None)
        if asked is not None:
            asked.last_frame = self.journal.run.now()
        if rpc.kind(message) == "request" and step.frame.answered is not None:
            self._requests.append(Pending(peer, message, step.frame, answered))
        peer.send(message, asked.message if asked else None)
        return 0

    def _close(self, place: int) -> float | None:
        asked = self._open.get(place)
        if asked is None:
            return 0
        now, pace = self.journal.run.now(), self.journal.run.pace
        wait = max(pace.delay(asked.opened, now), asked.last_frame + FRAME_GAP_S - now)
        if wait > 0:
            return wait
        recorded = self._recorded.calls[place]
        outcome, by, status = self._veil.reveal(recorded.outcome or {}), recorded.by, recorded.status
        if asked.local is not None:
            self._findings.local(asked.local, replace(recorded, outcome=outcome))
            outcome, by, status = asked.local.outcome, asked.local.by, 200
        self.journal.closed(asked.number, outcome, status, by)
        pace.closed(now)
        del self._open[place]
        asked.peer.answer(asked.message, outcome, status)
        return 0

    def _arm(self) -> None:
        """Someone waits for an answer that is held back by something the agent has not done: not for ever."""
        if self._open:
            delay = 0.0 if self._findings.diverged else PATIENCE_S
            self._patience = self._loop.call_later(delay, self._give_up)

    def _disarm(self) -> None:
        for timer in (self._patience, self._resume):
            if timer is not None:
                timer.cancel()
        self._patience = self._resume = None

    def _give_up(self) -> None:
        """What holds an answer back will not come: a client that sends calls one by one, an agent that changed."""
        held = next((s for s in self._steps[self._cursor :] if isinstance(s, score.Closed | score.Sent)), None)
        if held is None:
            return
        while (step := self._steps[self._cursor]) is not held:
            if self._cursor not in self._happened:
                self._missed(step)
            self._cursor += 1
        self._happened.add(self._cursor)
        self._advance()

    def _missed(self, step: score.Step) -> None:
        match step:
            case score.Answered(frame):
                self._findings.diverge(divergence.unanswered(self.journal.name, frame.message))
            case score.Opened(place):
                named = divergence.listed(self._recorded.calls[place])
                self.journal.remark(
                    f"an answer waited {PATIENCE_S:g} s for the call {named}, made earlier when recorded"
                )
            case _:
                self.journal.remark(f"an answer waited {PATIENCE_S:g} s for something the agent did when recorded")
