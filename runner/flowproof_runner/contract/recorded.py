"""The evidence a kept trace holds: model turns, MCP lanes, an adapter's conversation, the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowproof_addons.dialects.registry import default
from flowproof_addons.trace.model import Trace
from flowproof_runner.contract.events01 import from_rows
from flowproof_runner.evidence.adapter import with_adapter
from flowproof_runner.evidence.build import LaneReader, build
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.evidence.outcome import with_outcome
from flowproof_runner.mcp.evidence import reader
from flowproof_runner.spec import session
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.suite import extensions
from flowproof_runner.suite.file import Suites


def evidence_of(spec: LoadedSpec, trace: Trace) -> Evidence:
    """The evidence of a run of the spec. An outcome in a file or a response body is not part of a trace."""
    extensions.admit(Suites().beside(spec.path))
    mocks, tools = session.tool_mocks(spec.spec), (tool.name for tool in spec.spec.tools)
    found = _joined(trace, build(trace, default(), lanes=_unadapted(trace, _lanes(spec, trace)), mocks=mocks), tools)
    output = spec.spec.agent.output
    return found if output is None else with_outcome(found, output.kind, output.name)


def evidence_in(trace: Trace) -> Evidence:
    """The evidence of a trace whose spec is not at hand: nothing tells which answers the spec gave."""
    lanes = (reader(name, lane, ()) for name, lane in sorted(trace.mcp.items()))
    return _joined(trace, build(trace, default(), lanes=_unadapted(trace, lanes)), ())


def _unadapted(trace: Trace, lanes: Iterator[LaneReader]) -> tuple[LaneReader, ...]:
    """The lanes, where no adapter's conversation tells of them already."""
    return () if isinstance(trace.extra.get("adapter"), list) else tuple(lanes)


def _joined(trace: Trace, found: Evidence, tools: Iterable[str]) -> Evidence:
    conversation = trace.extra.get("adapter")
    if not isinstance(conversation, list):
        return found
    return with_adapter(found, from_rows(conversation, complete=True).events, tools)


def _lanes(spec: LoadedSpec, trace: Trace) -> Iterator[LaneReader]:
    for server in spec.spec.mcp:
        lane = trace.mcp.get(server.name)
        if lane is not None:
            yield reader(server.name, lane, (tool.name for tool in server.tools))
