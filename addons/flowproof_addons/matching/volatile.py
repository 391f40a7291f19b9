"""What a fresh recording holds that another day, or another directory, would change."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from flowproof_addons.matching import paths
from flowproof_addons.matching.dates import DATE, readings
from flowproof_addons.session import Pin
from flowproof_addons.trace.model import JsonBody, Request
from flowproof_addons.trace.pointer import Path as Place
from flowproof_addons.trace.pointer import texts

_SHORTEST_DIRECTORY = 3
"""`/` and the like stand in every text."""


@dataclass(frozen=True, slots=True)
class Hint:
    """One span no pin covers."""

    kind: Literal["date", "path"]
    path: str
    text: str
    clock: str = ""
    """The agent's own clock, which this date is not of."""

    def words(self) -> str:
        """For people: what it means and the pin that mends it."""
        pin = f"pins: [{{ at: {self.path!r}, kind: {self.kind}, why: ... }}]"
        if self.kind == "date" and self.clock:
            return (
                f"{self.path} holds today's real date ({self.text}): it is not from agent.clock {self.clock}; add {pin}"
            )
        if self.kind == "date":
            return f"{self.path} holds today's date ({self.text}): this cassette is good for one day; add {pin}"
        return f"{self.path} holds the working directory: this cassette replays in no other; add {pin}"


class Hints:
    """Looks at each request of a recording; what a later request repeats is told once."""

    def __init__(self, pins: Sequence[Pin], today: dt.date, directory: str, clock: str = "") -> None:
        self._pinned = [_Pinned.of(pin) for pin in pins if pin.kind != "unordered"]
        self._clock = clock
        self._today = {today, today - dt.timedelta(days=1), today + dt.timedelta(days=1)}  # the agent's own time zone
        self._directory = directory if len(directory) >= _SHORTEST_DIRECTORY else ""
        self._seen: set[str] = set()
        self.found: dict[Hint, None] = {}

    def look(self, request: Request) -> None:
        """Note what this request holds."""
        if isinstance(request.body, JsonBody):
            for place, text in texts(request.body.value):
                if text not in self._seen:
                    self._seen.add(text)
                    self.found.update(dict.fromkeys(self._hints(place, text)))

    def _hints(self, place: Place, text: str) -> Iterator[Hint]:
        dates = (d for d in DATE.finditer(text) if readings(d[0]) & self._today)
        date = next((d for d in dates if not self._covered("date", place, text, d.span())), None)
        if date is not None:
            yield Hint("date", paths.written(place), date[0], self._clock)
        at = text.find(self._directory) if self._directory else -1
        if at >= 0 and not self._covered("path", place, text, (at, at + len(self._directory))):
            yield Hint("path", paths.written(place), self._directory)

    def _covered(self, kind: Literal["date", "path"], place: Place, text: str, span: tuple[int, int]) -> bool:
        return any(pin.covers(kind, place, text, span) for pin in self._pinned)


@dataclass(frozen=True, slots=True)
class _Pinned:
    """A pin, as far as it makes a hint needless."""

    path: paths.Path
    kind: str
    match: re.Pattern[str] | None

    @classmethod
    def of(cls, pin: Pin) -> _Pinned:
        return cls(paths.parse(pin.at), pin.kind, re.compile(pin.match) if pin.match else None)

    def covers(self, kind: str, place: Place, text: str, span: tuple[int, int]) -> bool:
        """True when it lets this span differ: it is at the text or at what that is part of, and holds the span."""
        if self.kind not in ("text", kind):
            return False
        if not any(self.path.matches(place[:length]) for length in range(len(place) + 1)):
            return False
        return self.match is None or any(
            found.start() < span[1] and found.end() > span[0] for found in self.match.finditer(text)
        )
