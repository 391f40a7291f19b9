"""What a fresh recording holds that another day, or another directory, would change."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from flowproof_addons.matching import paths
from flowproof_addons.matching.dates import DATE, readings
from flowproof_addons.session import Pin
from flowproof_addons.trace.model import JsonBody, JsonValue, Request
from flowproof_addons.trace.pointer import Path as Place

_SHORTEST_DIRECTORY = 3
"""`/` and the like stand in every text."""


@dataclass(frozen=True, slots=True)
class Hint:
    """One span no pin covers."""

    kind: Literal["date", "path"]
    path: str
    text: str

    def words(self) -> str:
        """For people: what it means and the pin that mends it."""
        pin = f"pins: [{{ at: {self.path!r}, kind: {self.kind}, why: ... }}]"
        if self.kind == "date":
            return f"{self.path} holds today's date ({self.text}): this cassette is good for one day; add {pin}"
        return f"{self.path} holds the working directory: this cassette replays in no other; add {pin}"


class Hints:
    """Looks at each request of a recording; what a later request repeats is told once."""

    def __init__(self, pins: Sequence[Pin], today: dt.date, directory: str) -> None:
        self._pinned = [paths.parse(pin.at) for pin in pins if pin.kind != "unordered"]
        self._today = {today, today - dt.timedelta(days=1), today + dt.timedelta(days=1)}  # the agent's own time zone
        self._directory = directory if len(directory) >= _SHORTEST_DIRECTORY else ""
        self._seen: set[str] = set()
        self.found: dict[Hint, None] = {}

    def look(self, request: Request) -> None:
        """Note what this request holds."""
        if isinstance(request.body, JsonBody):
            for place, text in _texts(request.body.value, ()):
                if text not in self._seen:
                    self._seen.add(text)
                    self.found.update(dict.fromkeys(self._hints(place, text)))

    def _hints(self, place: Place, text: str) -> Iterator[Hint]:
        date = next((d[0] for d in DATE.finditer(text) if readings(d[0]) & self._today), None)
        held = date is not None or (self._directory and self._directory in text)
        if not held or any(_covers(pin, place) for pin in self._pinned):
            return
        if date is not None:
            yield Hint("date", paths.written(place), date)
        if self._directory and self._directory in text:
            yield Hint("path", paths.written(place), self._directory)


def _covers(pin: paths.Path, place: Place) -> bool:
    """A pin at the text itself or at anything it is part of."""
    return any(pin.matches(place[:length]) for length in range(len(place) + 1))


def _texts(value: JsonValue, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*place, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*place, key))
