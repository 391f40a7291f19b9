"""One run's evidence: the model boundary, every MCP lane, and the outcome the spec says where to read."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from flowproof_addons.dialects.base import Registry
from flowproof_addons.trace.model import Trace
from flowproof_runner.evidence.adapter import with_adapter
from flowproof_runner.evidence.build import LaneReader, build
from flowproof_runner.evidence.model import ADAPTER, Decided, Evidence
from flowproof_runner.evidence.names import named
from flowproof_runner.evidence.outcome import with_outcome
from flowproof_runner.expectations.ast import CallAssertion
from flowproof_runner.flow.draft import Draft
from flowproof_runner.mcp.evidence import reader
from flowproof_runner.spec import session


def evidence(draft: Draft, trace: Trace, registry: Registry) -> Evidence:
    """Everything that was observed of a finished run."""
    spec = draft.resolved.spec
    adapted = spec.agent.driver == "adapter"
    found = build(
        trace,
        registry,
        lanes=() if adapted else tuple(_lanes(draft, trace)),
        mocks=session.tool_mocks(spec),
        complete=draft.cause is None,
    )
    if draft.agent is not None:
        found = replace(found, duration_ms=draft.agent.duration_s * 1000)
        if adapted:
            found = with_adapter(found, draft.agent.events, (tool.name for tool in spec.tools))
    if spec.agent.output is None:
        return found
    left = draft.agent.output if draft.agent is not None else None
    return with_outcome(found, spec.agent.output.kind, spec.agent.output.name, left)


def uncaught(draft: Draft, evidence: Evidence) -> Iterator[str]:
    """A note for each tool the spec mocks or forbids that the agent really carries out, at every replay too."""
    spec = draft.resolved.spec
    mocked = {tool.name for tool in spec.tools if tool.mocked}
    steps = (each.step for each in draft.resolved.steps)
    forbidden = {step.tool for step in steps if isinstance(step, CallAssertion) and step.kind == "no_call"}
    return unintercepted(mocked, forbidden | {tool for ban in draft.contract.bans for tool in ban.tools}, evidence)


def unintercepted(mocked: Set[str], forbidden: Set[str], evidence: Evidence) -> Iterator[str]:
    """The same for these tools, by whichever of their names: one note a tool, if the model asked for it at all."""
    for tool in sorted({event.tool for event in evidence.of(Decided) if event.lane != ADAPTER}):
        names = named(tool, None)
        if names & evidence.lane_of.keys():
            continue
        why = "only what the model is told is fixed" if names & mocked else "it is forbidden, not kept from running"
        if names & (mocked | forbidden):
            yield (
                f"nothing intercepts {tool}: the agent carries it out at every replay, {why}; declare its server under "
                "`mcp:` to keep it from running"
            )


def _lanes(draft: Draft, trace: Trace) -> Iterator[LaneReader]:
    for server in draft.resolved.spec.mcp:
        lane = trace.mcp.get(server.name)
        if lane is not None:
            yield reader(server.name, lane, (tool.name for tool in server.tools))
