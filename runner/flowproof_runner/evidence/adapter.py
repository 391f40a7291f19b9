"""An adapter's conversation joined to what crossed the model boundary meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flowproof_runner.evidence.model import ADAPTER, AnyEvent, Concluded, Evidence


def with_adapter(evidence: Evidence, events: Iterable[AnyEvent]) -> Evidence:
    """The evidence with the adapter's own events after the model's.

    The two streams have no common clock; each keeps its order, and no check compares places across them. MCP servers
    answered the adapter's calls, so their lanes are already told in its events. Without its final word the run is not
    complete.
    """
    start = evidence.events[-1].seq + 1 if evidence.events else 0
    joined = tuple(replace(event, seq=start + place) for place, event in enumerate(events))
    return replace(
        evidence,
        events=(*evidence.events, *joined),
        observed_lanes=evidence.observed_lanes | {ADAPTER},
        complete=evidence.complete and any(isinstance(event, Concluded) for event in joined),
        duration_ms=max((event.at_ms for event in joined if event.at_ms is not None), default=evidence.duration_ms),
    )
