"""From a trace to the events of the run: the model boundary read by its dialects, other lanes merged in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from flowproof_addons.dialects.base import ModelReply, ModelRequest, Registry
from flowproof_addons.session import ToolMock
from flowproof_addons.trace.model import Exchange, JsonBody, JsonValue, Trace
from flowproof_runner.evidence.conversation import Answered, Conversations
from flowproof_runner.evidence.growth import History
from flowproof_runner.evidence.model import MODEL, AnyEvent, Asked, Decided, Diverged, Evidence, Faulted, Replied, Told
from flowproof_runner.evidence.names import aliases
from flowproof_runner.matchers.matchers import equal


@dataclass(frozen=True, slots=True)
class Placed:
    """An event of another lane, with its place among the model's turns."""

    after: int
    """How many model turns had been served before it."""
    tick: int
    """Order among the events of all lanes between the same turns."""
    event: AnyEvent


@dataclass(frozen=True, slots=True)
class LaneReport:
    """What one observed lane saw."""

    name: str
    tools: frozenset[str]
    """Bare names of the tools it offers."""
    events: tuple[Placed, ...]


type LaneReader = Callable[[tuple[Decided, ...]], LaneReport]
"""Reads one lane; is given the model's decisions, to join its calls to them by `call`."""


def build(
    trace: Trace,
    registry: Registry,
    *,
    lanes: Sequence[LaneReader] = (),
    mocks: Sequence[ToolMock] = (),
    complete: bool = True,
) -> Evidence:
    """The evidence of a run. `mocks`: the `tools:` results in force; `complete`: the run came to its own end."""
    model = _weighed(tuple(_Model(trace, registry, mocks).events()), trace)
    decided = tuple(event for event in model if isinstance(event, Decided))
    reports = [read(decided) for read in lanes]
    return Evidence(
        merged(model, [placed for report in reports for placed in report.events]),
        frozenset(report.name for report in reports),
        lane_of(reports),
        complete=complete,
    )


def merged(model: Iterable[AnyEvent], others: Iterable[Placed]) -> tuple[AnyEvent, ...]:
    """One stream, numbered from 0: another lane's event stands before the request that came after it."""
    waiting = sorted(others, key=lambda placed: (placed.after, placed.tick))
    stream: list[AnyEvent] = []
    for event in model:
        if isinstance(event, Asked | Faulted) and event.turn is not None:
            while waiting and waiting[0].after < event.turn:
                stream.append(waiting.pop(0).event)
        stream.append(event)
    stream.extend(placed.event for placed in waiting)
    return tuple(replace(event, seq=seq) for seq, event in enumerate(stream))


def lane_of(reports: Sequence[LaneReport]) -> dict[str, str]:
    """Every name of every observed tool -> its lane; a name that two lanes answer to belongs to neither."""
    found: dict[str, set[str]] = {}
    for report in reports:
        for tool in report.tools:
            for name in aliases(report.name, tool):
                found.setdefault(name, set()).add(report.name)
    return {name: lanes.pop() for name, lanes in found.items() if len(lanes) == 1}


class _Model:
    """Reads the model boundary turn by turn."""

    def __init__(self, trace: Trace, registry: Registry, mocks: Sequence[ToolMock]) -> None:
        self.faults = trace.faulted
        self.turns = [(turn, registry.named(turn.dialect or "")) for turn in trace.turns]
        self.mocks = {mock.name: mock for mock in mocks}
        self.conversations = Conversations()
        self.history = History()

    def events(self) -> Iterator[AnyEvent]:
        for number, (turn, dialect) in enumerate(self.turns, 1):
            yield from self._faulted(number)
            if dialect is None:
                continue
            grown = self.history.grown(turn.request)
            request = dialect.read_request(grown.request if grown else turn.request)
            thread = grown.thread if grown else self.conversations.thread(request)
            part = turn.user_turn
            yield _asked(turn, number, thread, request)
            answers = self.conversations.answered(thread, request, whole=grown is None)
            known = self.conversations.known(request, answers, grown.known if grown else ())
            self.history.remember(turn.request, thread, known)
            yield from (self._told(number, answer, part) for answer in answers if answer.new)
            if isinstance(turn.divergence, dict):
                yield Diverged(seq=0, lane=MODEL, turn=number, user_turn=part, report=turn.divergence)
            else:
                body = turn.reply.body.value if isinstance(turn.reply.body, JsonBody) else None
                yield from self._replied(turn, number, thread, dialect.read_reply(body), known)

        yield from self._faulted(None)

    def _faulted(self, before: int | None) -> Iterator[Faulted]:
        """The faults in the way of a turn; None: of turns that did not come to be."""
        for exchange in self.faults:
            fault = exchange.fault
            if fault is not None and (fault.turn == before or (before is None and fault.turn > len(self.turns))):
                yield Faulted(seq=0, lane=MODEL, turn=before, label=fault.label, status=exchange.reply.status)

    def _replied(
        self, turn: Exchange, number: int, thread: str, reply: ModelReply, known: tuple[str, ...]
    ) -> Iterator[AnyEvent]:
        yield Replied(
            seq=0,
            lane=MODEL,
            turn=number,
            user_turn=turn.user_turn,
            thread=thread,
            status=turn.reply.status,
            text=reply.text if reply.text is not None else reply.refusal,
            model=reply.model,
            input_tokens=reply.usage.input,
            output_tokens=reply.usage.output,
            stop=reply.stop,
        )
        identities = self.conversations.decide(thread, number, reply, known)
        for identity, call in zip(identities, reply.calls, strict=True):
            yield Decided(
                seq=0,
                lane=MODEL,
                turn=number,
                user_turn=turn.user_turn,
                call=identity,
                tool=call.name,
                arguments=call.arguments,
                arguments_text=call.arguments_text,
                thread=thread,
                group=number,
                known=known,
            )

    def _told(self, number: int, answer: Answered, user_turn: int | None) -> Told:
        return Told(
            seq=0,
            lane=MODEL,
            turn=number,
            user_turn=user_turn,
            call=answer.call,
            tool=answer.tool,
            result=answer.result.content,
            is_error=answer.result.is_error,
            mocked=self._mocked(answer.tool, answer.result.content),
        )

    def _mocked(self, tool: str, content: JsonValue) -> bool:
        """The trace keeps what the model was told; it was the spec's if the spec has just that for the tool."""
        mock = self.mocks.get(tool)
        return mock is not None and any(equal(result.content, content) for result in mock.results)


def _asked(turn: Exchange, number: int, thread: str, request: ModelRequest) -> Asked:
    return Asked(
        seq=0,
        lane=MODEL,
        turn=number,
        user_turn=turn.user_turn,
        dialect=turn.dialect or "",
        model=request.model,
        thread=thread,
        tools=request.tools,
    )


def _weighed(events: tuple[AnyEvent, ...], trace: Trace) -> tuple[AnyEvent, ...]:
    """The events with the size of requests where it decides which conversation is the main one: it is dear to find."""
    turns = Counter(event.thread for event in events if isinstance(event, Asked))
    tied = {thread for thread in turns if turns[thread] == max(turns.values())}
    if len(tied) < 2:
        return events
    exchanges = trace.turns
    return tuple(
        replace(event, request_chars=_size(exchanges[event.turn - 1]))
        if isinstance(event, Asked) and event.turn is not None and event.thread in tied
        else event
        for event in events
    )


def _size(turn: Exchange) -> int:
    body = turn.request.body
    return len(json.dumps(body.value, default=str)) if isinstance(body, JsonBody) else 0
