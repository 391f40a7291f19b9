"""All that is wrong with a finished run, causes first, into its draft."""

from __future__ import annotations

from collections.abc import Mapping

from flowproof_addons.dialects.base import Registry
from flowproof_addons.trace.model import JsonValue, Trace
from flowproof_runner.boundary.outcome import Outcome
from flowproof_runner.drivers.base import DriverResult
from flowproof_runner.findings import Finding
from flowproof_runner.flow import assertions, conversation, faults, plan, verdicts
from flowproof_runner.flow.draft import Draft
from flowproof_runner.result import PinUse
from flowproof_runner.spec.clients.profile import pins_of


def judge(draft: Draft, outcome: Outcome, trace: Trace, registry: Registry, recorded: Trace | None = None) -> None:
    """Judge a run by how its agent ended, what crossed the boundary and what its spec asserts.

    `recorded` is the cassette at replay.
    """
    assert draft.agent is not None
    here = draft.spec.document.where(("agent",))
    draft.faults = faults.uses(draft.spec, outcome)
    draft.add(verdicts.of_problems(outcome.problems, here))
    draft.add(verdicts.of_divergences(outcome.divergences, here))
    draft.add(verdicts.of_entries((*outcome.findings, *_lane_findings(outcome)), here))
    draft.add(verdicts.of_clock(draft.habitat.clock, here))
    _agent(draft, draft.agent, here)
    if not outcome.turns and not (draft.resolved.spec.agent.driver == "adapter" and not (recorded and recorded.turns)):
        draft.add([_no_request(draft, recorded, here)])
    draft.add(conversation.findings(draft, trace, outcome.unsettled))
    draft.conversation = conversation.told(draft, trace)
    if outcome.turns and recorded is not None:
        draft.add(verdicts.unserved(outcome.unserved, recorded.exchanges, here, draft.cause))
    draft.add(faults.findings(draft.faults))
    draft.findings = [faults.explained(found, draft.faults) for found in draft.findings]
    if recorded is not None:
        draft.notes += verdicts.unserved_notes(outcome.unserved, recorded.exchanges)
        draft.pins = _pins(draft, outcome)
    draft.notes += outcome.hints
    own = {pin.label for pin in draft.resolved.spec.pins}
    draft.notes += (
        f"pin {name} held nothing in this run: remove it, or correct its path"
        for name in outcome.unused_pins
        if name in own
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
    """The spec's own pins, used or not; of those it did not write only what was needed."""
    spec = draft.resolved.spec
    own = [_use(pin.label, pin.why, outcome, "") for pin in spec.pins]
    source = f"client {spec.client}"
    client = [_use(pin.label, pin.why, outcome, source) for pin in pins_of(spec)[len(spec.pins) :]]
    folder = _use(plan.OWN_FOLDER.name, plan.OWN_FOLDER.why, outcome, "flowproof")
    return (*own, *(use for use in (*client, folder) if use.count))


def _use(name: str, why: str, outcome: Outcome, source: str) -> PinUse:
    return PinUse(name=name, count=outcome.pins.get(name, 0), why=why, source=source)


def _lane_findings(outcome: Outcome) -> list[Mapping[str, JsonValue]]:
    lanes = (value for value in outcome.lanes.values() if isinstance(value, dict))
    entries = (entry for lane in lanes for entry in _list(lane.get("findings")))
    return [entry for entry in entries if isinstance(entry, dict)]


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
