"""Plays a lane's score: lets out answers and server messages in recorded order, each when its time has come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from flowproof_addons.mcp import divergence, score
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.findings import Findings
from flowproof_addons.mcp.journal import Journal, restored
from flowproof_addons.mcp.lane import Frame, Lane
from flowproof_addons.mcp.message import Key, Message
from flowproof_addons.mcp.pace import FRAME_GAP_S
from flowproof_addons.mcp.peer import Peer
from flowproof_addons.mcp.policy import Local
from flowproof_addons.mcp.veil import Veil

PATIENCE_S = 2.0
"""How long an answer waits for something the agent did first when recorded and has not done now."""
ANSWER_S = 15.0
"""The same for the agent's answer to a server request: a model, or a person's stand-in, may have to be asked."""


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
    slow_s: float = 0.0
    """A fault: the answer comes no earlier than so long after the request."""
    last_frame: float = float("-inf")


@dataclass(frozen=True, slots=True)
class Pending:
    """A server request the agent has not answered yet."""

    peer: Peer
    message: Message
    frame: Frame
    journal: Callable[[Message], None]


class Conductor:
    """How far a run has come in the recorded order of its lane. Everything happens in a call or in a timer."""

    def __init__(self, journal: Journal, recorded: Lane, findings: Findings, veil: Veil) -> None:
        self._journal = journal
        self._recorded = recorded
        self._findings = findings
        self._veil = veil
        self._loop = asyncio.get_running_loop()
        self._steps = score.score(recorded)
        self._cursor = 0
        self._happened: set[int] = set()
        self._open: dict[int, Asked] = {}
        self._peers: dict[int, Peer] = {}
        self._pending: list[Pending] = []
        self._patience: asyncio.TimerHandle | None = None
        self._resume: asyncio.TimerHandle | None = None

    def join(self, peer: Peer) -> int:
        """The number of a connection's session, which is its own from its first meaningful message on."""
        if peer.session is None:
            peer.session = len(self._peers)
            self._peers[peer.session] = peer
        return peer.session

    def open(self, asked: Asked) -> None:
        """A call is let through; it is answered in its time."""
        asked.opened = self._journal.run.now()
        self._open[asked.place] = asked
        if self.mark(score.Opened(asked.place)):
            return
        for frame in self._recorded.calls[asked.place].frames:  # its time was given up on: all of it now
            self._send(score.Sent(frame, asked.place))
        self._finish(asked.place)

    def owed(self, peer: Peer) -> bool:
        """True while an open call of this connection is to be answered."""
        return any(a.peer is peer and self._recorded.calls[p].closed is not None for p, a in self._open.items())

    def cancel(self, peer: Peer, which: Callable[[Message], bool]) -> None:
        """The agent gives an open call up; that a call has been answered already means nothing."""
        for place, asked in list(self._open.items()):
            if asked.peer is peer and which(asked.message):
                self._cancel(place)

    def answered(self, peer: Peer, message: Message) -> None:
        """The agent answers a server request."""
        for index, pending in enumerate(self._pending):
            if pending.peer is peer and rpc.request_id(pending.message) == rpc.request_id(message):
                del self._pending[index]
                pending.journal(rpc.outcome(message))
                said, recorded = rpc.outcome(self._veil.message(message)), pending.frame.answer or {}
                report = divergence.answer(self._journal.name, pending.message, recorded, said)
                if report is not None:
                    self._findings.diverge(report)
                self.mark(score.Answered(pending.frame))
                return

    def mark(self, step: score.Awaited) -> bool:
        """Something awaited happened; the earliest such step counts. False if there is none ahead."""
        for index in range(self._cursor, len(self._steps)):
            if index not in self._happened and self._steps[index] == step:
                self._happened.add(index)
                return True
        return False

    def advance(self) -> None:
        """Do every step whose time has come."""
        self.rest()
        while self._cursor < len(self._steps):
            wait = self._do(self._steps[self._cursor])
            if wait is None:
                self._arm(self._steps[self._cursor])
                return
            if wait > 0:
                self._resume = self._loop.call_later(wait, self.advance)
                return
            self._cursor += 1

    def rest(self) -> None:
        """Let no timer act."""
        for timer in (self._patience, self._resume):
            if timer is not None:
                timer.cancel()
        self._patience = self._resume = None

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
        answered = self._journal.sent(message, step.frame.session, asked.number if asked else None)
        if asked is not None:
            asked.last_frame = self._journal.run.now()
        if rpc.kind(message) == "request" and step.frame.answered is not None:
            self._pending.append(Pending(peer, message, step.frame, answered))
        peer.send(message, asked.message if asked else None)
        return 0

    def _close(self, place: int) -> float | None:
        asked = self._open.get(place)
        if asked is None:
            return 0
        now, pace = self._journal.run.now(), self._journal.run.pace
        wait = max(
            pace.delay(asked.opened, now), asked.last_frame + FRAME_GAP_S - now, asked.opened + asked.slow_s - now
        )
        if wait > 0:
            return wait
        recorded = self._recorded.calls[place]
        outcome, by, status = self._veil.reveal(recorded.outcome or {}), recorded.by, recorded.status
        if asked.local is not None:
            self._findings.local(asked.local, replace(recorded, outcome=outcome))
            outcome, by, status = asked.local.outcome, asked.local.by, 200
        self._journal.closed(asked.number, outcome, status, by)
        pace.closed(now)
        del self._open[place]
        asked.peer.answer(asked.message, outcome, status)
        return 0

    def _finish(self, place: int) -> None:
        """Answer a call that came after its time."""
        wait = self._close(place)
        if wait:
            self._loop.call_later(wait, self._finish, place)

    def _cancel(self, place: int) -> None:
        self._journal.cancelled(self._open[place].number)
        recorded = self._recorded.calls[place]
        if recorded.cancelled is None:
            self._journal.remark(f"the agent gave up {divergence.listed(recorded)}, which it did not when recorded")
        self.mark(score.Cancelled(place))
        if recorded.closed is None:
            del self._open[place]

    def _arm(self, step: score.Step) -> None:
        """Someone waits for an answer that is held back by something the agent has not done: not for ever."""
        if self._open:
            patience_s = ANSWER_S if isinstance(step, score.Answered) else PATIENCE_S
            self._patience = self._loop.call_later(0.0 if self._findings.diverged else patience_s, self._give_up)

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
        self.advance()

    def _missed(self, step: score.Step) -> None:
        match step:
            case score.Answered(frame):
                self._findings.diverge(divergence.unanswered(self._journal.name, frame.message))
            case score.Opened(place):
                named = divergence.listed(self._recorded.calls[place])
                self._journal.remark(
                    f"an answer waited {PATIENCE_S:g} s for the call {named}, made earlier when recorded"
                )
            case _:
                self._journal.remark(f"an answer waited {PATIENCE_S:g} s for something the agent did when recorded")
