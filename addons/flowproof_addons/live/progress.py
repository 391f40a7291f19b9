"""One session in progress: the only mutable state of a flow inside the boundary."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from dataclasses import replace

from flowproof_addons.dialects.base import Dialect, ErrorText, Registry
from flowproof_addons.faults import Faults
from flowproof_addons.live.attempts import RETRIED, Attempts
from flowproof_addons.live.crossing import ABANDONED, Crossing, Due
from flowproof_addons.live.dues import Dues
from flowproof_addons.live.mocks import Mocks, MocksExhausted
from flowproof_addons.live.reordered import Reordered
from flowproof_addons.live.settling import Later, Left, Settling
from flowproof_addons.matching.canonical import key
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.matcher import Matcher
from flowproof_addons.matching.volatile import Hints
from flowproof_addons.session import Session
from flowproof_addons.trace.journal import Journal
from flowproof_addons.trace.model import BytesBody, Exchange, Fault, JsonBody, JsonValue, Reply, Request, Trace
from flowproof_addons.trace.redact import Redactor

type Emit = Callable[[dict[str, JsonValue]], None]


class Live:
    """A session's matcher, mocks, journal and verdict-relevant notes."""

    def __init__(
        self,
        session: Session,
        registry: Registry,
        recordings: Trace | None,
        emit: Emit,
        clock: Callable[[], dt.datetime],
        faults: Faults | None = None,
        later: Later | None = None,
    ) -> None:
        """`later`: `loop.call_later`, which a conversation needs."""
        self.session = session
        self.faults = faults or Faults(session.faults, session.mcp_faults)
        self.registry = registry
        self._emit = emit
        self._redactor = Redactor(session.secrets, session.redact_keys)
        self._journal = Journal(session.folder / "trace.jsonl", self._redactor)
        self._mocks = Mocks(session.mocks)
        self._attempts = Attempts()
        self._reordered = Reordered() if session.reorder else None
        self._hints = Hints(session.pins, clock().date(), session.own_directory, session.clock)
        self._recordings = () if recordings is None else recordings.exchanges
        faulted = () if recordings is None else recordings.faulted
        self.matcher: Matcher | None = None
        if session.phase == "replay":
            self.matcher = Matcher(
                (*self._recordings, *faulted),
                session.pins,
                registry,
                clock=clock,
                own_directory=session.own_directory,
                redactor=self._redactor,
                recorded_at=recordings.recorded_at if recordings else "",
                habitat=session.habitat,
                recorded_habitat=_extra(recordings, "habitat"),
                agent_clock=session.clock,
                recorded_directory=_extra(recordings, "directory"),
                aside=len(self._recordings),
                user_turn=1 if session.conversation else None,
            )
        self._dues = Dues(self.faults, self.matcher, self._recordings, faulted)
        self.settling: Settling | None = None
        """Of a conversation."""
        if session.conversation is not None and later is not None:
            self.settling = Settling(emit, later, self._left if self.matcher else None, session.conversation.quiet_s)
        self.lanes_left: Callable[[int], tuple[int, int]] = lambda user_turn: (0, 0)
        """Of the MCP calls recorded in a user turn: how many nobody asked for, and how many there are."""
        self.closed = asyncio.Event()
        self.turns = 0
        self.side_calls = 0
        self.policy: list[JsonValue] = []
        """Requests that were answered without looking at a recording: `{method, path, client, status}`."""
        self.problems: list[str] = []
        self.findings: list[dict[str, JsonValue]] = []
        self.divergences: list[JsonValue] = []

    @property
    def replaying(self) -> bool:
        """True when nothing may leave."""
        return self.session.phase == "replay"

    @property
    def stopped(self) -> bool:
        """True once the run can only fail: every further turn is refused the same way."""
        return bool(self.divergences or self.findings)

    @property
    def user_turn(self) -> int | None:
        """Where a conversation is, from 1."""
        return self.settling.user_turn if self.settling else None

    def begin(self, user_turn: int) -> None:
        """The runner is about to give the agent this user turn."""
        assert self.settling is not None
        if self.matcher is not None:
            self.matcher.user_turn = user_turn
        self.settling.begin(user_turn)

    def problem(self, words: str) -> None:
        """Something of ours or of the machine went wrong: the verdict is `error`, whatever else happened."""
        if words not in self.problems:  # a client that tries again meets the same
            self.problems.append(words)
        self._emit({"event": "problem", "text": words})

    def arrived(self, crossing: Crossing) -> None:
        """Count a request, and keep its place: overlapping calls are answered in any order."""
        crossing.place = self._journal.arrive()
        crossing.user_turn = self.user_turn
        if self.settling is not None:
            self.settling.opened()
        if crossing.dialect is None:
            self.side_calls += 1
        else:
            self.turns += 1
            crossing.turn = self.turns
            self._emit({"event": "turn", "turn": self.turns})

    def substitute(self, request: Request, dialect: Dialect) -> Request:
        """The request with the spec's tool results in place. Raises MocksExhausted."""
        if not self.session.mocks or not isinstance(request.body, JsonBody):
            return request
        results = self._mocks.replacements(dialect.read_request(request).results)
        if not results:
            return request
        return replace(request, body=JsonBody(dialect.substitute(request.body.value, results)))

    def exhausted(self, error: MocksExhausted) -> ErrorText:
        """Note a call the spec has no result for, and say so to the agent."""
        self.findings.append({"id": "tool.results.exhausted", "message": str(error), "tool": error.tool})
        self._emit({"event": "finding", "text": str(error)})
        return ErrorText(f"flowproof: {error}")

    def due(self, crossing: Crossing) -> Due | None:
        """The fault a turn is to be answered with, if any."""
        return None if self.stopped else self._dues.of(crossing)

    def faulted(self, crossing: Crossing, due: Due, reply: Reply) -> None:
        """Note that a request is answered with a fault: it is no turn, and its recording is still to come."""
        crossing.settled = True
        self.turns -= 1
        self._emit({"event": "fault", "label": due.fault.label})
        self._dues.paid(crossing, due)
        self._note_spoilt(crossing.dialect, reply)
        exchange = self._exchange(crossing, reply)
        crossing.exchange = replace(exchange, fault=Fault(due.fault.label, due.turn))
        self._journal.append(crossing.exchange, crossing.place)
        self._answered(crossing, reply, working=True)

    def match(self, crossing: Crossing) -> Reply | Divergence:
        """Replay: the recording that answers, journalled; or why none does."""
        assert self.matcher is not None
        if self._reordered is not None:
            crossing.request = self._reordered.restored(crossing.request)
        found = self.matcher.match(crossing.request, crossing.dialect)
        if isinstance(found, Divergence):
            report = found.to_json()
            if not self.stopped:
                self._emit({"event": "divergence", "report": report})
                self.divergences.append(report)
            crossing.exchange = self._exchange(crossing, Reply(0, BytesBody(b"")), divergence=report)
            self._journal.append(crossing.exchange, crossing.place)
            return found
        recorded = found.exchange
        self._note_calls(crossing.dialect, recorded.reply)
        crossing.exchange = replace(
            self._exchange(crossing, recorded.reply),
            served_from=found.index,
            equality=found.equality,
            rules=found.rules,
        )
        self._journal.append(crossing.exchange, crossing.place)
        self._answered(crossing, recorded.reply)
        return self._reordered.served(recorded.reply, crossing.dialect) if self._reordered else recorded.reply

    def record(self, crossing: Crossing, reply: Reply) -> None:
        """Record: keep an exchange, or keep it aside while the client may yet retry it."""
        exchange = crossing.exchange = self._exchange(crossing, reply)
        kept: Exchange | None = exchange
        self._answered(crossing, reply)
        if not self.session.keep_attempts:
            kept = self._attempts.settle(key(crossing.request, crossing.dialect), exchange)
        if kept is None:
            return
        self.faults.answered(key(crossing.request, crossing.dialect))
        self._hints.look(crossing.request)
        self._note_calls(crossing.dialect, reply)
        self._journal.append(kept, crossing.place)

    def close(self) -> dict[str, JsonValue]:
        """End the session: what the journal does not say."""
        for exchange in self._attempts.unsettled():
            self._journal.append(exchange)
        self.closed.set()
        self._journal.close()
        if self.settling is not None:
            self.settling.rest()
        return {
            "turns": self.turns,
            "side_calls": self.side_calls,
            "policy": list(self.policy),
            "problems": list(self.problems),
            "findings": list(self.findings),
            "divergences": list(self.divergences),
            "unserved": [*self._unserved()],
            "unused_pins": [*self.matcher.unused_pins()] if self.matcher else [],
            "pins": dict(self.matcher.pin_counts()) if self.matcher else {},
            "hints": [hint.words() for hint in self._hints.found],
            "redacted": [*sorted(self._redactor.hits)],
            "faults": self.faults.told(),
            "unsettled": self.settling.why() if self.settling else "",
        }

    def _unserved(self) -> list[int]:
        """Recordings that nothing asked for. A call its own agent abandoned may or may not come again."""
        if self.matcher is None:
            return []
        return [i for i in self.matcher.unserved() if self._recordings[i].reply.status != ABANDONED]

    def _left(self, user_turn: int) -> Left:
        """What this run has not asked for of all that was recorded in a user turn."""
        recorded = sum(exchange.user_turn == user_turn and exchange.is_turn for exchange in self._recordings)
        unserved = (self._recordings[i] for i in self._unserved())
        missing = sum(exchange.user_turn == user_turn for exchange in unserved)
        calls_missing, calls = self.lanes_left(user_turn)
        return Left(missing + calls_missing, recorded + calls)

    def _answered(self, crossing: Crossing, reply: Reply, *, working: bool = False) -> None:
        """Tell the conversation, if there is one, what the agent has to do now; `working`: something in any case."""
        if self.settling is None:
            return
        if crossing.dialect is None or crossing.user_turn != self.user_turn:
            self.settling.closed()
            return
        said = crossing.dialect.read_reply(reply.body.value) if isinstance(reply.body, JsonBody) else None
        working = working or reply.status in RETRIED or (said is not None and bool(said.calls))
        self.settling.replied(working=working, text=(said.text if said else None) or "")

    def _exchange(self, crossing: Crossing, reply: Reply, divergence: JsonValue = None) -> Exchange:
        name = crossing.dialect.name if crossing.dialect else None
        return Exchange(crossing.request, reply, name, divergence=divergence, user_turn=crossing.user_turn)

    def _note_spoilt(self, dialect: Dialect | None, reply: Reply) -> None:
        if dialect is not None and self.session.mocks and isinstance(reply.body, JsonBody):
            self._mocks.spoilt(dialect.read_reply(reply.body.value).calls)

    def _note_calls(self, dialect: Dialect | None, reply: Reply) -> None:
        if dialect is not None and self.session.mocks and isinstance(reply.body, JsonBody):
            self._mocks.decided(dialect.read_reply(reply.body.value).calls)


def _extra(recordings: Trace | None, key: str) -> str:
    """A directory of the recorded run; kept only where a pin maps it."""
    found = recordings.extra.get(key) if recordings else None
    return found if isinstance(found, str) else ""
