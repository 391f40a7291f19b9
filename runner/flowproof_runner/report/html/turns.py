"""A run's events as the turns and calls people think in: each call with all that was observed of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from flowproof_addons.dialects.base import Said
from flowproof_addons.trace.model import Exchange
from flowproof_runner.evidence import model as seen
from flowproof_runner.records.story import Told


@dataclass(slots=True)
class Call:
    """One tool call."""

    number: int
    """Place among the run's calls, from 1."""
    tool: str
    decided: seen.Decided | None = None
    dispatched: seen.Dispatched | None = None
    returned: seen.Returned | None = None
    told: seen.Told | None = None
    denied: seen.Denied | None = None
    confirmed: seen.Confirmed | None = None

    @property
    def failed(self) -> bool:
        """Its result says that it failed."""
        answer = self.returned or self.told
        return answer is not None and answer.is_error


@dataclass(slots=True)
class Turn:
    """One model request, its reply, and the calls that came of it."""

    number: int
    """From 1; 0 for what is no turn."""
    title: str = ""
    """What stands in place of the number."""
    exchange: Exchange | None = None
    asked: seen.Asked | None = None
    heard: tuple[Said, ...] = ()
    told: list[Call] = field(default_factory=list)
    """Calls whose results its request brought."""
    replied: seen.Replied | None = None
    calls: list[Call] = field(default_factory=list)
    """Calls its reply asked for."""
    strays: list[Call] = field(default_factory=list)
    """Calls the agent made after it without being asked, and results it brought along from elsewhere."""
    diverged: seen.Diverged | None = None
    faults: list[seen.Faulted] = field(default_factory=list)
    """What stood in its way first."""
    confirmed: list[seen.Confirmed] = field(default_factory=list)
    """Confirmations that are bound to no call."""


def turns(told: Told) -> tuple[Turn, ...]:
    """The turns in order, between what happened before the first and what an adapter said, which knows no turns."""
    found = {number: Turn(number, exchange=turn, heard=told.heard.get(number, ())) for number, turn in _numbered(told)}
    calls: dict[str, Call] = {}
    current = before = Turn(0, title="Before the first turn")
    adapter = Turn(0, title="The adapter's conversation")
    for event in told.evidence.events:
        if isinstance(event, seen.Asked) and event.turn is not None:
            current = found[event.turn]
            current.asked = event
        if isinstance(event, seen.Faulted):
            found.get(event.turn or 0, current).faults.append(event)
            continue
        _note(event, adapter if event.turn is None else current, calls)
    return tuple(
        turn
        for turn in (before, *found.values(), adapter)
        if turn.number or turn.calls or turn.strays or turn.confirmed
    )


def outcome(told: Told) -> seen.Concluded | None:
    """The run's structured outcome, where it has one."""
    return next(iter(told.evidence.of(seen.Concluded)), None)


def _numbered(told: Told) -> Iterator[tuple[int, Exchange]]:
    return enumerate(told.trace.turns, 1)


def _note(event: seen.AnyEvent, turn: Turn, calls: dict[str, Call]) -> None:
    match event:
        case seen.Replied():
            turn.replied = event
        case seen.Diverged():
            turn.diverged = event
        case seen.Decided():
            call = _call(event, calls)
            call.decided = event
            turn.calls.append(call)
        case seen.Dispatched() | seen.Returned() | seen.Told() | seen.Denied():
            known = event.call in calls
            call = _call(event, calls)
            if not known:
                turn.strays.append(call)
            _observe(event, turn, call)
        case seen.Confirmed() if event.call in calls:
            calls[event.call].confirmed = event
        case seen.Confirmed():
            turn.confirmed.append(event)
        case _:
            pass


def _call(
    event: seen.Decided | seen.Dispatched | seen.Returned | seen.Told | seen.Denied, calls: dict[str, Call]
) -> Call:
    return calls.setdefault(event.call, Call(len(calls) + 1, event.tool))


def _observe(event: seen.Dispatched | seen.Returned | seen.Told | seen.Denied, turn: Turn, call: Call) -> None:
    match event:
        case seen.Dispatched():
            call.dispatched = event
        case seen.Returned():
            call.returned = event
        case seen.Denied():
            call.denied = event
        case seen.Told():
            call.told = event
            turn.told.append(call)
