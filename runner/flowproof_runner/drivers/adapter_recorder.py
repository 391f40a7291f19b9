"""What happens in an adapter's run, written down in order."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from flowproof_runner.drivers.adapter_protocol import ProtocolViolation
from flowproof_runner.evidence.model import ADAPTER, AnyEvent

MAX_EVENTS = 10_000


@dataclass
class Recorder:
    """Numbers the events and says when they were and at which turn of the model."""

    started: float
    """On the clock of `time.monotonic`."""
    events: list[AnyEvent] = field(default_factory=list)
    turn: int | None = None
    """The model turn the adapter has come to."""

    def now(self) -> float:
        """Milliseconds since the start."""
        return (time.monotonic() - self.started) * 1000

    def add(self, kind: type[AnyEvent], *, lane: str = ADAPTER, **members: object) -> None:
        """Raises ProtocolViolation beyond the limit."""
        if len(self.events) >= MAX_EVENTS:
            raise ProtocolViolation(f"the adapter caused more than {MAX_EVENTS} events")
        self.events.append(kind(seq=len(self.events), lane=lane, turn=self.turn, at_ms=self.now(), **members))  # type: ignore[arg-type]
