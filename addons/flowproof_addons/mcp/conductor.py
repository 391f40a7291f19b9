"""Plays a lane's score: lets out answers and server messages in recorded order, each when its time has come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from flowproof_addons.mcp import divergence, score
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.asked import Asked, Pending
from flowproof_addons.mcp.findings import Findings
from flowproof_addons.mcp.journal import Journal, restored
from flowproof_addons.mcp.lane import Lane
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.pace import FRAME_GAP_S, after_answer
from flowproof_addons.mcp.peer import Peer
from flowproof_addons.mcp.sessions import Sessions
from flowproof_addons.mcp.veil import Veil

PATIENCE_S = 2.0
"""How long an answer waits for something the agent did first when recorded and has not done now."""
ANSWER_S = 15.0
"""The same for the agent's answer to a server request: a model, or a person's stand-in, may have to be asked."""


class Conductor:
    """How far a run has come in the recorded order of its lane. Everything happens in a call or in a timer."""

    def __init__(self, journal: Journal, recorded: Lane, findings: Findings, veil: Veil) -> None:
        self._journal = journal
        self._recorded = recorded
        self._findings = findings
        self._veil = veil
        self._loop = asyncio.get_running_loop()
        self._course = score.Course(score.score(recorded))
        self._open: dict[int, Asked] = {}
        self._sessions = Sessions()
        self._push_at: float | None = None
        """When the push whose turn it is may go."""
        self._pending: list[Pending] = []
        self._patience: asyncio.TimerHandle | None = None
        self._resume: asyncio.TimerHandle | None = None

    def join(self, peer: Peer) -> int:
        """The number of a connection's session, which it has from its first meaningful message on."""
        return self._sessions.join(peer)

    def place(self, peer: Peer, place: int) -> None:
        """A connection makes a recorded call: it stands for the session that call was recorded in."""
        session = self._recorded.calls[place].session
        before = self._sessions.settle(peer, session)
        if before is not None:
            self._course.swap(before, session)

    def noted(self, peer: Peer, message: Message) -> None:
        """A notification that server messages may wait for."""
        session = self.join(peer)
        self._journal.noted(message, session)
        self._course.mark(score.Noted(rpc.method(message), session))

    def open(self, asked: Asked) -> None:
        """A call is let through; it is answered in its time."""
        asked.opened = self._journal.run.now()
        self._open[asked.place] = asked
        if self._course.mark(score.Opened(asked.place)):
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
                self._course.mark(score.Answered(pending.frame))
                return

    def advance(self) -> None:
        """Do every step whose time has come."""
        self.rest()
        while (step := self._course.next) is not None:
            wait = self._do(step)
            if wait is None:
                self._arm(step)
                return
            if wait > 0:
                self._resume = self._loop.call_later(wait, self.advance)
                return
            self._course.at += 1
            self._push_at = None

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
                return 0 if self._course.happened else None

    def _send(self, step: score.Sent) -> float | None:
        asked = None if step.call is None else self._open.get(step.call)
        if step.call is not None and asked is None:
            return 0
        peer = asked.peer if asked else self._sessions.of(step.frame.session)
        if peer is None:
            return 0 if self._course.happened else None
        if asked is None and (wait := self._held(peer)) > 0:
            return wait
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

    def _held(self, peer: Peer) -> float:
        """Seconds a push must wait, counted from when it was due: a client that goes on asking does not hold it up."""
        now = self._journal.run.now()
        if self._push_at is None:
            busy = any(asked.peer is peer for asked in self._open.values())
            self._push_at = now if busy else now + after_answer(peer, now)
        return self._push_at - now

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
        asked.peer.answered = now
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
        self._course.mark(score.Cancelled(place))
        if recorded.closed is None:
            del self._open[place]

    def _arm(self, step: score.Step) -> None:
        """Someone waits for an answer that is held back by something the agent has not done: not for ever."""
        if self._open:
            patience_s = ANSWER_S if isinstance(step, score.Answered) else PATIENCE_S
            self._patience = self._loop.call_later(0.0 if self._findings.diverged else patience_s, self._give_up)

    def _give_up(self) -> None:
        """What holds an answer back will not come: a client that sends calls one by one, an agent that changed."""
        ahead = self._course.steps[self._course.at :]
        held = next((s for s in ahead if isinstance(s, score.Closed | score.Sent)), None)
        if held is None:
            return
        for step in self._course.skip_to(held):
            self._missed(step)
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
