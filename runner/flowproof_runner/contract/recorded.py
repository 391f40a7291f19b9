"""The evidence a kept trace holds: model turns, MCP lanes, an adapter's conversation, the outcome."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_addons.dialects.registry import default
from flowproof_addons.trace.model import Trace
from flowproof_runner import extensions
from flowproof_runner.contract.events01 import from_rows
from flowproof_runner.evidence.adapter import with_adapter
from flowproof_runner.evidence.build import LaneReader, build
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.evidence.outcome import with_outcome
from flowproof_runner.mcp.evidence import reader
from flowproof_runner.spec import session
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.suite import Suites


def evidence_of(spec: LoadedSpec, trace: Trace) -> Evidence:
    """The evidence of a run of the spec. An outcome in a file or a response body is not part of a trace."""
    extensions.admit(Suites().beside(spec.path))
    conversation = trace.extra.get("adapter")
    adapted = isinstance(conversation, list)
    found = build(
        trace,
        default(),
        lanes=() if adapted else tuple(_lanes(spec, trace)),
        mocks=session.tool_mocks(spec.spec),
    )
    if isinstance(conversation, list):
        tools = (tool.name for tool in spec.spec.tools)
        found = with_adapter(found, from_rows(conversation, complete=True).events, tools)
    output = spec.spec.agent.output
    return found if output is None else with_outcome(found, output.kind, output.name)


def _lanes(spec: LoadedSpec, trace: Trace) -> Iterator[LaneReader]:
    for server in spec.spec.mcp:
        lane = trace.mcp.get(server.name)
        if lane is not None:
            yield reader(server.name, lane, (tool.name for tool in server.tools))
