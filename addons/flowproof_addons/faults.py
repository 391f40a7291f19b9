"""Which request is answered with a fault: counted by turns, so that a repeated request is still the same turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from flowproof_addons.session import McpFault, ModelFault
from flowproof_addons.trace.model import JsonValue


@dataclass(slots=True)
class _Open:
    """A request under way."""

    turn: int
    """It is to be."""
    tries: int = 0
    """How many of it are under way."""


@dataclass(slots=True)
class Faults:
    """The faults of one session, and which of them have happened."""

    model: Sequence[ModelFault] = ()
    mcp: Sequence[McpFault] = ()
    _fired: Counter[str] = field(default_factory=Counter)
    _remarks: dict[str, list[str]] = field(default_factory=dict)
    _open: dict[bytes, _Open] = field(default_factory=dict)
    """Requests that may come again, by key."""
    _turns: int = 0

    def at(self, turn: int) -> ModelFault | None:
        """The fault for the next request that is to be this turn."""
        return next((f for f in self.model if f.turn == turn and self._left(f)), None)

    def called(self, label: str) -> ModelFault | None:
        """The fault with this label, while there is one to come."""
        return next((f for f in self.model if f.label == label and self._left(f)), None)

    def of_call(self, server: str, tool: str, nth: int) -> McpFault | None:
        """The fault for the next call that is to be the nth of a tool."""
        return next((f for f in self.mcp if (f.server, f.tool, f.nth) == (server, tool, nth) and self._left(f)), None)

    def fired(self, fault: ModelFault | McpFault) -> None:
        """Note that a fault happens."""
        self._fired[fault.label] += 1

    def remark(self, fault: ModelFault | McpFault, words: str) -> None:
        """Note what became of a fault, or why it could not be done though its time had come."""
        self._remarks.setdefault(fault.label, []).append(words)

    def turn_of(self, key: bytes) -> int:
        """At record: which turn a request is to be, by order of arrival; one that comes again is still the same."""
        if key not in self._open:
            self._turns += 1
            self._open[key] = _Open(self._turns)
        self._open[key].tries += 1
        return self._open[key].turn

    def answered(self, key: bytes) -> None:
        """At record: a request has become the turn it was to be."""
        self._open.pop(key, None)

    def failed(self, key: bytes) -> None:
        """At record: a request was answered with a fault; what comes next, the same or another, is that turn."""
        tried = self._open.get(key)
        if tried is None:
            return
        tried.tries -= 1
        if not tried.tries:  # else it has come again already
            del self._open[key]
            self._turns -= 1

    def told(self) -> list[JsonValue]:
        """What happened, in the order of the spec."""
        faults: list[ModelFault | McpFault] = [*self.model, *self.mcp]
        return [self._told(fault) for fault in faults]

    def _told(self, fault: ModelFault | McpFault) -> JsonValue:
        remarks: list[JsonValue] = [*self._remarks.get(fault.label, ())]
        return {"label": fault.label, "times": fault.times, "fired": self._fired[fault.label], "remarks": remarks}

    def _left(self, fault: ModelFault | McpFault) -> bool:
        return self._fired[fault.label] < fault.times
