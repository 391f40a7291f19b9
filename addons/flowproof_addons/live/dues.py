"""When a fault's time has come: the turn it is for, counted as it was counted when the flow was recorded."""

from __future__ import annotations

from collections.abc import Sequence

from flowproof_addons.faults import Faults
from flowproof_addons.live.crossing import Crossing, Due
from flowproof_addons.matching.canonical import key
from flowproof_addons.matching.matcher import Matcher
from flowproof_addons.trace.model import Exchange


class Dues:
    """The model faults of one session; with a matcher it is a replay."""

    def __init__(
        self, faults: Faults, matcher: Matcher | None, recordings: Sequence[Exchange], faulted: Sequence[Exchange]
    ) -> None:
        self._faults = faults
        self._matcher = matcher
        self._recordings = recordings
        self._recorded = frozenset(exchange.fault.label for exchange in faulted if exchange.fault is not None)

    def of(self, crossing: Crossing) -> Due | None:
        """The fault a turn is to be answered with, if any.

        At replay turns are numbered as in the cassette, so that overlapping requests do not change places.
        """
        if crossing.dialect is None or not self._faults.model:
            return None
        if self._matcher is None:
            turn = self._faults.turn_of(key(crossing.request, crossing.dialect))
            fault = self._faults.at(turn)
            return None if fault is None else Due(fault, turn)
        again = self._matcher.look(crossing.request, crossing.dialect, aside=True)
        if again is not None and again.exchange.fault is not None:
            fault = self._faults.called(again.exchange.fault.label)
            return None if fault is None else Due(fault, fault.turn, again)
        hit = self._matcher.look(crossing.request, crossing.dialect)
        if hit is None:
            return None
        turn = sum(exchange.is_turn for exchange in self._recordings[: hit.index + 1])
        fault = self._faults.at(turn)
        return None if fault is None or fault.label in self._recorded else Due(fault, turn, hit)

    def paid(self, crossing: Crossing, due: Due) -> None:
        """The request was answered with this fault."""
        if self._matcher is None:
            self._faults.failed(key(crossing.request, crossing.dialect))
        elif due.recorded is not None and due.recorded.exchange.fault is not None:
            self._matcher.use(due.recorded.index)
