"""What a flow's run folder holds, read back for those who want to see it: reports and inspection.

What is on the disk has had its secrets taken out; what was in memory had not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pydantic

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.base import Conversational, Registry, Said
from flowproof_addons.session import ToolMock
from flowproof_addons.trace import file
from flowproof_addons.trace.model import Trace
from flowproof_runner.contract.events01 import from_rows
from flowproof_runner.drivers.tail import tail
from flowproof_runner.evidence.adapter import with_adapter
from flowproof_runner.evidence.build import LaneReader, build
from flowproof_runner.evidence.growth import History
from flowproof_runner.evidence.model import Asked, Evidence, Replied
from flowproof_runner.mcp.evidence import reader
from flowproof_runner.result import FlowResult

_LINES = 200


@dataclass(frozen=True, slots=True)
class Told:
    """A trace and what it says."""

    trace: Trace
    evidence: Evidence
    heard: Mapping[int, tuple[Said, ...]] = field(default_factory=dict)
    """Per turn, from 1: what its request says that no earlier one of its conversation said and no model answered."""


@dataclass(frozen=True, slots=True)
class Story:
    """One flow's result with all there is to tell."""

    flow: FlowResult
    told: Told | None = None
    """None where nothing crossed, or what crossed cannot be read."""
    stdout: tuple[str, ...] = ()
    """The last lines."""
    stderr: tuple[str, ...] = ()
    trouble: str = ""
    """Why there is less to tell than there should be."""


def story(flow: FlowResult, start: Path, registry: Registry) -> Story:
    """A flow with what its folder holds; `start`: what the result's paths are relative to."""
    agent = flow.agent
    stdout = tail(start / agent.stdout, _LINES) if agent and agent.stdout else ()
    stderr = tail(start / agent.stderr, _LINES) if agent and agent.stderr else ()
    if flow.trace is None:
        return Story(flow, None, stdout, stderr)
    try:
        told = tell(file.load(start / flow.trace), registry)
    except FlowproofError as error:
        return Story(flow, None, stdout, stderr, str(error))
    return Story(flow, told, stdout, stderr)


def tell(trace: Trace, registry: Registry) -> Told:
    """What a trace says. Raises FlowproofError if one of its lanes cannot be read."""
    conversation = trace.extra.get("adapter")
    # an adapter's conversation holds its calls to MCP servers already
    lanes = () if isinstance(conversation, list) else tuple(_lanes(trace))
    evidence = build(trace, registry, lanes=lanes, mocks=tuple(_mocks(trace)))
    if isinstance(conversation, list):
        evidence = with_adapter(evidence, from_rows(conversation, complete=True).events)
    return Told(trace, evidence, _heard(trace, evidence, registry))


def _lanes(trace: Trace) -> Iterator[LaneReader]:
    yield from (reader(name, lane) for name, lane in trace.mcp.items() if lane is not None)


def _mocks(trace: Trace) -> Iterator[ToolMock]:
    """The spec's own results; what cannot be read as one only loses its mark."""
    for mock in trace.mocks if isinstance(trace.mocks, list) else []:
        try:
            yield ToolMock.model_validate(mock)
        except pydantic.ValidationError:
            continue


type _Line = tuple[str, str]
"""Who said what."""


def _heard(trace: Trace, evidence: Evidence, registry: Registry) -> dict[int, tuple[Said, ...]]:
    threads = {event.turn: event.thread for event in evidence.of(Asked)}
    replies = {event.turn: event.text or "" for event in evidence.of(Replied)}
    history, said = History(), dict[str, Counter[_Line]]()
    found: dict[int, tuple[Said, ...]] = {}
    for number, turn in enumerate(trace.turns, 1):
        dialect = registry.named(turn.dialect or "")
        thread = threads.get(number)
        if thread is None or not isinstance(dialect, Conversational):
            continue
        grown = history.grown(turn.request)
        items = dialect.read_conversation(grown.request if grown else turn.request)
        before = said.setdefault(thread, Counter())
        found[number] = tuple(_new(items, before, only_new=grown is not None))
        history.remember(turn.request, thread, ())
        before["assistant", replies.get(number, "")] += 1
    return found


def _new(items: tuple[Said, ...], before: Counter[_Line], *, only_new: bool) -> Iterator[Said]:
    """The items that say something for the first time; notes them in `before`."""
    met = Counter[_Line]()
    for item in items:
        role = "assistant" if item.role == "model" else item.role
        line = (role, item.text)
        met[line] += 1
        repeated = only_new and role not in ("system", "developer", "assistant")
        if (item.text or item.parts) and (repeated or met[line] > before[line]):
            yield item
            before[line] += 1
