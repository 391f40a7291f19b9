"""Which recorded call a call of this run is: strict about causes, loose about arrival.

Calls are taken in recorded order. One that equals a *later* recording is parked: if all earlier ones arrive too,
they were sent without waiting for this one's answer, so the order was a race; if they do not, the agent changed its
order. Measured (12 client programs): pure position turned unchanged programs red in up to 12 of 12 replays, this none.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from flowproof_addons.mcp.message import Key

type Ticket = int
"""A call of this run."""


class Queue:
    """The recorded calls of one lane, being consumed."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self._places: dict[Key, deque[int]] = defaultdict(deque)
        for place, key in enumerate(keys):
            self._places[key].append(place)
        self._claims: dict[int, Ticket] = {}
        self._size = len(keys)
        self._released = 0
        self.reordered = 0
        """How many calls arrived before one recorded earlier."""

    def claim(self, ticket: Ticket, key: Key) -> int | None:
        """Reserve the earliest free recording equal to this call; None when there is none."""
        free = self._places.get(key)
        if not free:
            return None
        place = free.popleft()
        self._claims[place] = ticket
        if place > self._released and any(p not in self._claims for p in range(self._released, place)):
            self.reordered += 1
        return place

    def release(self) -> list[tuple[int, Ticket]]:
        """The claimed recordings that nothing earlier stands before, in recorded order, each once."""
        ready: list[tuple[int, Ticket]] = []
        while self._released in self._claims:
            ready.append((self._released, self._claims[self._released]))
            self._released += 1
        return ready

    def parked(self, place: int) -> bool:
        """True while an earlier recording has not been asked for."""
        return place >= self._released

    def give_back(self, place: int, key: Key) -> None:
        """Undo a claim that was never released."""
        del self._claims[place]
        self._places[key].appendleft(place)

    @property
    def first_free(self) -> int | None:
        """The earliest recording nobody has asked for: what the next call should have been."""
        return next((p for p in range(self._released, self._size) if p not in self._claims), None)

    @property
    def unclaimed(self) -> tuple[int, ...]:
        """Recordings nobody asked for."""
        return tuple(p for p in range(self._released, self._size) if p not in self._claims)
