"""Plays a server from its recorded lane: answers by position, in recorded order, with no server there."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from flowproof_addons.mcp import divergence, faulty
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.asked import Asked
from flowproof_addons.mcp.conductor import Conductor
from flowproof_addons.mcp.faulty import LaneFaults
from flowproof_addons.mcp.findings import Findings
from flowproof_addons.mcp.journal import Journal
from flowproof_addons.mcp.lane import Lane, Listing
from flowproof_addons.mcp.message import Key, Message
from flowproof_addons.mcp.peer import NOTED, Peer
from flowproof_addons.mcp.policy import Policy
from flowproof_addons.mcp.queue import Queue
from flowproof_addons.mcp.veil import Veil

QUIET_S = 2.0
"""A call that came before an earlier recorded one waits for that one until the lane has been silent this long."""

_OVER = "the run has diverged from its recording"


def _placed(key: Key, user_turn: int | None) -> Key:
    """In a conversation, a call is found only where it was recorded."""
    return key if user_turn is None else Key(f"{user_turn} {key}")


class Replay:
    """One lane being replayed. Everything happens on the event loop, in `receive` or in a timer."""

    def __init__(
        self,
        journal: Journal,
        recorded: Lane,
        policy: Policy,
        findings: Findings,
        veil: Veil,
        faults: LaneFaults | None = None,
    ) -> None:
        self.journal = journal
        self._recorded = recorded
        self._policy = policy
        self._findings = findings
        self._veil = veil
        self._faults = faults or LaneFaults()
        self._conductor = Conductor(journal, recorded, findings, veil)
        self._queue = Queue([_placed(rpc.key(c.method, c.params), c.user_turn) for c in recorded.calls])
        self._catalogue: dict[Key, list[Listing]] = defaultdict(list)
        for listing in recorded.catalogue:
            self._catalogue[rpc.key(listing.method, listing.params, listing.protocol)].append(listing)
        self._waiting: dict[int, Asked] = {}
        self._tickets = 0
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
                self._conductor.answered(peer, message)
        self._stay_quiet()
        self._conductor.advance()

    def leave(self, peer: Peer) -> None:
        """The connection is gone."""
        for ticket, asked in list(self._waiting.items()):
            if asked.peer is peer:
                del self._waiting[ticket]
                self._queue.give_back(asked.place, asked.key)

    def owes(self, peer: Peer) -> bool:
        """True while an answer is to come on this connection."""
        return self._conductor.owed(peer) or any(asked.peer is peer for asked in self._waiting.values())

    def abandon(self, peer: Peer, message: Message) -> None:
        """The agent gave one request up, by whatever means its transport has."""
        self._conductor.cancel(peer, lambda asked: asked is message)
        self._conductor.advance()

    def close(self) -> None:
        """Stop, and note what was recorded and not asked for."""
        self._conductor.rest()
        if self._quiet is not None:
            self._quiet.cancel()
        left = [self._recorded.calls[place] for place in self._queue.unclaimed]
        if left:
            self._findings.unserved([divergence.listed(call) for call in left])
        if self._queue.reordered:
            self.journal.remark(f"{self._queue.reordered} concurrent calls arrived in another order than recorded")

    def left(self, user_turn: int) -> tuple[int, int]:
        """Of the calls recorded in a user turn: how many nobody asked for, and how many there are."""
        places = [place for place, call in enumerate(self._recorded.calls) if call.user_turn == user_turn]
        return len(set(places) & set(self._queue.unclaimed)), len(places)

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
        if rpc.method(message) not in rpc.LIFECYCLE:
            peer.answered = self.journal.run.now()
        peer.answer(message, outcome, status)

    # calls

    def _ask(self, peer: Peer, message: Message) -> None:
        if self._findings.diverged:
            self._attempted(peer, message)
            peer.answer(message, rpc.error(_OVER))
            return
        fault = self._faults.due(message)
        if fault is not None and fault.kind != "slow":
            self._conductor.join(peer)
            faulty.strike(fault, message, peer, self.journal)
            return
        seen = self._veil.message(message)
        key = _placed(rpc.key(rpc.method(seen), rpc.compared(seen)), self._user_turn)
        self._tickets += 1
        place = self._queue.claim(self._tickets, key)
        if place is None:
            report = divergence.call(self.journal.name, self._recorded, self._due(), seen, self._user_turn)
            self._attempted(peer, message)
            self._refuse(peer, message, report)
            return
        self._conductor.place(peer, place)
        self._waiting[self._tickets] = Asked(
            peer, message, key, place, slow_s=fault.seconds if fault is not None else 0.0
        )
        for released, ticket in self._queue.release():
            self._let_through(released, self._waiting.pop(ticket))

    @property
    def _user_turn(self) -> int | None:
        return self.journal.run.user_turn()

    def _due(self) -> int | None:
        """The recorded call that should have come now."""
        now = self._user_turn
        if now is None:
            return self._queue.first_free
        return next((place for place in self._queue.unclaimed if self._recorded.calls[place].user_turn == now), None)

    def _let_through(self, place: int, asked: Asked) -> None:
        asked.local = self._policy.answer(asked.message)
        by = asked.local.by if asked.local else self._recorded.calls[place].by
        asked.number = self.journal.opened(asked.message, asked.peer.session or 0, by)
        self._conductor.open(asked)

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
        loop = asyncio.get_running_loop()
        self._quiet = loop.call_later(QUIET_S, self._too_early) if self._waiting else None

    def _too_early(self) -> None:
        due = self._queue.first_free
        if not self._waiting or due is None:
            return
        asked = min(self._waiting.values(), key=lambda a: a.place)
        report = divergence.early(self.journal.name, self._recorded, asked.place, due)
        self._findings.diverge(report)
        self._turn_away(report.message)

    # notifications

    def _note(self, peer: Peer, message: Message) -> None:
        method = rpc.method(message)
        if method in NOTED:
            self._conductor.noted(peer, message)
        elif method == "notifications/cancelled":
            given_up = rpc.params(message).get("requestId")
            self._conductor.cancel(peer, lambda asked: rpc.request_id(asked) == given_up)
