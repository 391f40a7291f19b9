"""`enforce:` — whether a call may be dispatched, decided by the contract's own bans and approvals, fail-closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import AnyEvent, Decided, Dispatched, Evidence
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.model import Calls, Confirmation, Contract

type Enforced = Literal["forbidden", "confirmation"]
type Reason = Literal["tool_forbidden", "confirmation_missing_or_mismatched"]


@dataclass(frozen=True, slots=True)
class Gate:
    """Refuses calls that would be critical findings if they were carried out."""

    contract: Contract
    enforced: frozenset[Enforced]

    def refusal(
        self, events: Sequence[AnyEvent], call: str, tool: str, lane: str, arguments: JsonValue
    ) -> Reason | None:
        """Why the call must not be dispatched after these events, None if it may."""
        guards = tuple(e for e in self.contract.expectations if self._guards(e, tool))
        if not guards:
            return None
        seq = events[-1].seq + 1 if events else 0
        asked = any(isinstance(event, Decided) and event.call == call for event in events)
        proposed = () if asked else (_decided(seq, call, tool, lane, arguments),)
        dispatched = Dispatched(seq=seq + 1, lane=lane, call=call, tool=tool, arguments=arguments)
        evidence = Evidence((*events, *proposed, dispatched), frozenset({lane}), complete=False)
        judged = {seq, seq + 1} | {e.seq for e in events if isinstance(e, Decided) and e.call == call}
        for finding in evaluate(Contract(expectations=guards), evidence):
            if finding.severity == "critical" and finding.seq in judged:
                return "tool_forbidden" if finding.id == "tool.forbidden" else "confirmation_missing_or_mismatched"
        return None

    def _guards(self, expectation: object, tool: str) -> bool:
        match expectation:
            case Calls(kind="forbidden", tools=tools):
                return "forbidden" in self.enforced and tool in tools
            case Confirmation(tool=named):
                return "confirmation" in self.enforced and tool == named
            case _:
                return False


def _decided(seq: int, call: str, tool: str, lane: str, arguments: JsonValue) -> Decided:
    return Decided(
        seq=seq, lane=lane, call=call, tool=tool, arguments=arguments, arguments_text="", thread="", group=seq
    )
