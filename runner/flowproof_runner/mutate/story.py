"""Evidence as a story of steps that can be dropped, repeated, swapped and rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import (
    AnyEvent,
    Concluded,
    Confirmed,
    Decided,
    Denied,
    Dispatched,
    Evidence,
    Returned,
    Told,
)
from flowproof_runner.expectations.contract.call import Call
from flowproof_runner.expectations.contract.values import key
from flowproof_runner.expectations.contract.view import View

type CallEvent = Decided | Dispatched | Denied | Returned | Told


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a tool: all its events, with the approval given for it."""

    number: int
    """Among the uses, from 1."""
    call: Call
    events: tuple[AnyEvent, ...]

    @property
    def result(self) -> JsonValue:
        """What it was answered, None if nothing."""
        found = [event for event in self.events if isinstance(event, Returned | Told)]
        return found[-1].result if found else None

    @property
    def answered(self) -> bool:
        """True when there was an answer."""
        return any(isinstance(event, Returned | Told) for event in self.events)


@dataclass(frozen=True, slots=True)
class Story:
    """A run's uses of tools, its outcome, and everything around them."""

    evidence: Evidence
    uses: tuple[Use, ...]

    @staticmethod
    def of(evidence: Evidence) -> Story:
        """Read the story of a run."""
        calls = View(evidence).calls
        ids = _ids(evidence, calls)
        events: dict[str, list[AnyEvent]] = {call.id: [] for call in calls}
        for event in evidence.events:
            if (
                isinstance(event, Decided | Dispatched | Denied | Returned | Told)
                and (owner := ids.get(_identity(event))) is not None
            ):
                events[owner].append(event)
        for confirmed in evidence.of(Confirmed):
            owner = _approved(confirmed, calls)
            if owner is not None:
                events[owner].insert(0, confirmed)
        return Story(evidence, tuple(Use(n, call, tuple(events[call.id])) for n, call in enumerate(calls, 1)))

    @property
    def outcome(self) -> Concluded | None:
        """The declared outcome."""
        return next(reversed(tuple(self.evidence.of(Concluded))), None)

    def without(self, use: Use) -> Evidence:
        """The run in which this use never happened; its approval was asked for all the same."""
        gone = {event.seq for event in use.events if not isinstance(event, Confirmed)}
        return self._rebuilt(event for event in self.evidence.events if event.seq not in gone)

    def rewritten(self, use: Use, change: Callable[[AnyEvent], AnyEvent]) -> Evidence:
        """The run in which this use's events are changed."""
        mine = {event.seq for event in use.events}
        return self._rebuilt(change(event) if event.seq in mine else event for event in self.evidence.events)

    def repeated(self, use: Use, change: Callable[[AnyEvent], AnyEvent], *, approved: bool = False) -> Evidence:
        """The run in which this use happens once more right after itself, changed. `approved`: with an approval too."""
        copies = [
            _renamed(change(event), use.call.id) for event in use.events if approved or not isinstance(event, Confirmed)
        ]
        last = max(event.seq for event in use.events)
        out: list[AnyEvent] = []
        for event in self.evidence.events:
            out.append(event)
            if event.seq == last:
                out += copies
        return self._rebuilt(out)

    def swapped(self, first: Use, second: Use) -> Evidence:
        """The run in which two neighbouring uses happen in the other order."""
        slots = sorted(event.seq for event in (*first.events, *second.events))
        order = (*second.events, *first.events)
        placed: Mapping[int, AnyEvent] = dict(zip(slots, order, strict=True))
        known = {first.call.id: {second.call.id}, second.call.id: set[str]()}
        lost = {second.call.id: {first.call.id}}
        return self._rebuilt(_informed(placed.get(event.seq, event), known, lost) for event in self.evidence.events)

    def concluded(self, output: JsonValue) -> Evidence:
        """The run with another outcome."""
        last = self.outcome
        return self._rebuilt(
            replace(event, output=output) if event is last and isinstance(event, Concluded) else event
            for event in self.evidence.events
        )

    def unreported(self) -> Evidence:
        """The run with no structured outcome at all."""
        return self._rebuilt(
            replace(event, output=None) if isinstance(event, Concluded) else event for event in self.evidence.events
        )

    def _rebuilt(self, events: Iterable[AnyEvent]) -> Evidence:
        """Events renumbered; what is gone can have informed nothing."""
        numbered = tuple(replace(event, seq=seq) for seq, event in enumerate(events))
        ids = {event.call for event in numbered if isinstance(event, Decided | Dispatched)}
        pruned = tuple(
            replace(event, known=tuple(call for call in event.known if call in ids))
            if isinstance(event, Decided | Dispatched) and event.known
            else event
            for event in numbered
        )
        return replace(self.evidence, events=pruned)


def _ids(evidence: Evidence, calls: Sequence[Call]) -> Mapping[tuple[str, bool], str]:
    """(event's call id, dispatched) -> the logical call it belongs to."""
    by_seq = {call.seq: call.id for call in calls}
    ids: dict[tuple[str, bool], str] = {(call.id, False): call.id for call in calls}
    ids |= {(call.id, True): call.id for call in calls}
    for event in evidence.of(Dispatched):
        if event.seq in by_seq:
            ids[event.call, True] = by_seq[event.seq]
    return ids


def _identity(event: CallEvent) -> tuple[str, bool]:
    return event.call, isinstance(event, Dispatched | Returned)


def _approved(confirmed: Confirmed, calls: Sequence[Call]) -> str | None:
    """The call an approval is for: the next one of its tool, with the same arguments if it names some."""
    later = [call for call in calls if call.seq > confirmed.seq and confirmed.tool in call.names]
    exact = [call for call in later if confirmed.arguments is None or key(call.arguments) == key(confirmed.arguments)]
    return next((call.id for call in (*exact, *later)), None)


def _renamed(event: AnyEvent, id: str) -> AnyEvent:
    return (
        replace(event, call=f"{id}+") if isinstance(event, Decided | Dispatched | Denied | Returned | Told) else event
    )


def _informed(event: AnyEvent, gained: Mapping[str, set[str]], lost: Mapping[str, set[str]]) -> AnyEvent:
    if not isinstance(event, Decided | Dispatched) or not event.known:
        return event
    known = [call for call in event.known if call not in lost.get(event.call, ())]
    known += [call for call in gained.get(event.call, ()) if call not in known]
    return replace(event, known=tuple(known))
