"""An adapter's conversation joined to what crossed the model boundary meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flowproof_runner.evidence.build import Placed, merged
from flowproof_runner.evidence.model import ADAPTER, AnyEvent, Concluded, Decided, Evidence
from flowproof_runner.evidence.names import named


def with_adapter(evidence: Evidence, events: Iterable[AnyEvent], tools: Iterable[str] = ()) -> Evidence:
    """The evidence with the adapter's own events where they belong among the model's.

    Each says how many model requests had arrived when it was read, and stands before the next; those that do not say
    it stand at the end. MCP servers answered the adapter's calls, so their lanes are already told in its events.
    `tools`: those that are answered through the adapter; the ones it asked for are, too. What the model asks of them
    is no call before the adapter makes it. Without its final word the run is not complete.
    """
    own = tuple(events)
    last = max((event.turn for event in evidence.events if event.turn is not None), default=0)
    placed = (Placed(last if e.turn is None else e.turn, place, e) for place, e in enumerate(own))
    answered = {*tools, *(event.tool for event in own if isinstance(event, Decided))}
    return replace(
        evidence,
        events=merged(evidence.events, placed),
        observed_lanes=evidence.observed_lanes | {ADAPTER},
        lane_of={**evidence.lane_of, **{name: ADAPTER for tool in answered for name in named(tool, None)}},
        complete=evidence.complete and any(isinstance(event, Concluded) for event in own),
        duration_ms=max((event.at_ms for event in own if event.at_ms is not None), default=evidence.duration_ms),
    )
