"""All that is wrong with a finished run, causes first, into its draft."""

from __future__ import annotations

from collections.abc import Mapping

from flowproof_addons.dialects.base import Registry
from flowproof_addons.trace.model import JsonValue, Trace
from flowproof_runner import assertions, verdicts
from flowproof_runner.boundary import Outcome
from flowproof_runner.draft import Draft
from flowproof_runner.drivers.base import DriverResult
from flowproof_runner.findings import Finding
from flowproof_runner.result import PinUse


def judge(draft: Draft, outcome: Outcome, trace: Trace, registry: Registry, recorded: Trace | None = None) -> None:
    """Judge a run by how its agent ended, what crossed the boundary and what its spec asserts.

    `recorded` is the cassette at replay.
    """
    assert draft.agent is not None
    here = draft.spec.document.where(("agent",))
    draft.add(verdicts.of_problems(outcome.problems, here))
    draft.add(verdicts.of_divergences(outcome.divergences, here))
    draft.add(verdicts.of_entries((*outcome.findings, *_lane_findings(outcome)), here))
    _agent(draft, draft.agent, here)
    if not outcome.turns and not (draft.resolved.spec.agent.driver == "adapter" and not (recorded and recorded.turns)):
        draft.add([_no_request(draft, recorded, here)])
    elif recorded is not None:
        draft.add(verdicts.unserved(outcome.unserved, recorded.exchanges, here, draft.cause))
    if recorded is not None:
        draft.notes += verdicts.unserved_notes(outcome.unserved, recorded.exchanges)
        draft.pins = _pins(draft, outcome)
    draft.notes += outcome.hints
    draft.notes += (
        f"pin {name} held nothing in this run: remove it, or correct its path" for name in outcome.unused_pins
    )
    assertions.judge(draft, trace, registry)


def _agent(draft: Draft, result: DriverResult, here: str) -> None:
    agent = draft.spec.spec.agent
    if result.problem is not None:
        draft.add([Finding(id="runtime.execution", kind="problem", message=result.problem, where=here)])
        return
    draft.add(verdicts.of_agent(result, agent.expect_exit.accepted, agent.timeout, here, draft.cause))


def _no_request(draft: Draft, recorded: Trace | None, here: str) -> Finding:
    cause = draft.findings[0].id if draft.findings else None
    return verdicts.no_request(draft.phase, len(recorded.turns) if recorded else 0, here, cause)


def _pins(draft: Draft, outcome: Outcome) -> tuple[PinUse, ...]:
    pins = draft.spec.spec.pins
    return tuple(PinUse(name=pin.label, count=outcome.pins.get(pin.label, 0), why=pin.why) for pin in pins)


def _lane_findings(outcome: Outcome) -> list[Mapping[str, JsonValue]]:
    lanes = (value for value in outcome.lanes.values() if isinstance(value, dict))
    entries = (entry for lane in lanes for entry in _list(lane.get("findings")))
    return [entry for entry in entries if isinstance(entry, dict)]


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
