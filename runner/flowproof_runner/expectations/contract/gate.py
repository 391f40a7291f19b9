"""`enforce:` — whether a call may be dispatched, decided by the contract's own bans and approvals, fail-closed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import AnyEvent, Decided, Dispatched, Evidence
from flowproof_runner.evidence.names import reached
from flowproof_runner.expectations.contract.call import names_of
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.model import AnyExpectation, Calls, Confirmation, Contract, Enforcement
from flowproof_runner.expectations.contract.resolution.bag import Gap
from flowproof_runner.expectations.contract.resolution.resolver import Resolver
from flowproof_runner.expectations.contract.ruling import Place
from flowproof_runner.expectations.contract.view import View

type Reason = Literal["tool_forbidden", "confirmation_missing_or_mismatched"]


@dataclass(frozen=True, slots=True)
class Gate:
    """Refuses calls that would be critical findings if they were carried out."""

    contract: Contract
    enforced: frozenset[Enforcement]

    def refusal(
        self, events: Sequence[AnyEvent], call: str, tool: str, lane: str, arguments: JsonValue
    ) -> Reason | None:
        """Why the call must not be dispatched after these events, None if it may."""
        names = names_of(tool, lane, reached(Evidence(tuple(events), frozenset({lane}))))
        guards = tuple(e for e in self.contract.expectations if self._guards(e, names))
        if not guards:
            return None
        seq = events[-1].seq + 1 if events else 0
        asked = any(isinstance(event, Decided) and event.call == call for event in events)
        proposed = () if asked else (_decided(seq, call, tool, lane, arguments),)
        dispatched = Dispatched(seq=seq + 1, lane=lane, call=call, tool=tool, arguments=arguments)
        evidence = Evidence((*events, *proposed, dispatched), frozenset({lane}), complete=False)
        judged = {seq, seq + 1} | {e.seq for e in events if isinstance(e, Decided) and e.call == call}
        for finding in evaluate(Contract(expectations=guards), evidence, now=True):
            if finding.severity == "critical" and finding.seq in judged:
                return "tool_forbidden" if finding.id == "tool.forbidden" else "confirmation_missing_or_mismatched"
        return "tool_forbidden" if _undecided(guards, evidence, judged) else None

    def _guards(self, expectation: object, names: Sequence[str]) -> bool:
        match expectation:
            case Calls(kind="forbidden", tools=tools):
                return "forbidden" in self.enforced and not set(tools).isdisjoint(names)
            case Confirmation(tool=named):
                return "confirmation" in self.enforced and named in names
            case _:
                return False


def _undecided(guards: Iterable[AnyExpectation], evidence: Evidence, judged: set[int]) -> bool:
    """True when a ban may or may not be about the call, because what it refers to cannot be read."""
    view = View(evidence)
    place = Place(view, Resolver(view))
    return any(
        any(gap.kind != "outcome" for gap in _gaps(guard, replace(place, env=replace(place.env, call=call))))
        for guard in guards
        if isinstance(guard, Calls)
        for call in view.calls
        if call.seq in judged
    )


def _gaps(ban: Calls, place: Place) -> Iterable[Gap]:
    """What cannot be read of a ban's conditions. The outcome is still to come: such bans are judged at the end."""
    if ban.when is not None:
        when = place.condition(ban.when)
        if when.unread or not when.holds:
            return when.unread
    return () if ban.such is None else place.truth(ban.such).gaps


def _decided(seq: int, call: str, tool: str, lane: str, arguments: JsonValue) -> Decided:
    return Decided(
        seq=seq, lane=lane, call=call, tool=tool, arguments=arguments, arguments_text="", thread="", group=seq
    )
