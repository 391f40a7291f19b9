"""The tool calls of a run as assertions see them: one list for what the model decided and what reached a server.

A *call* is a dispatch where the tool's lane is observed, else a decision. A *request* is always a decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import ADAPTER, Asked, Decided, Dispatched, Evidence, Returned, Told
from flowproof_runner.evidence.names import named, reached
from flowproof_runner.expectations.ast import CallAssertion, Clause
from flowproof_runner.matchers.matchers import holds
from flowproof_runner.matchers.path import MISSING, Missing


@dataclass(frozen=True, slots=True)
class Call:
    """One observation of a tool call."""

    seq: int
    call: str
    tool: str
    names: frozenset[str]
    """Every name an assertion may use for the tool."""
    arguments: JsonValue
    turn: int | None
    group: int
    """Calls of one reply share it, and it grows with the run: the position as far as order can be asserted."""
    dispatched: bool
    """Reached a server or adapter; else the model decided it."""
    counts: bool
    """Is the observation that makes it a call: a decision whose tool is observed elsewhere does not."""
    result: JsonValue | Missing = MISSING
    is_error: bool | Missing = MISSING


def calls(evidence: Evidence) -> tuple[Call, ...]:
    """Every decision and dispatch of the run, in order."""
    return tuple(sorted(_observed(evidence), key=lambda call: (call.group, call.seq)))


def asked_for(assertion: CallAssertion, call: Call) -> bool:
    """True when the call is the kind of thing the assertion is about, whatever its arguments."""
    return assertion.tool in call.names and _concerns(assertion, call)


def meets(assertion: CallAssertion, call: Call) -> bool:
    """True when the call is one the assertion describes."""
    return asked_for(assertion, call) and all(clause_holds(clause, call) for clause in assertion.clauses)


def clause_holds(clause: Clause, call: Call) -> bool:
    """True when the call meets one clause."""
    return holds(clause.matcher, looked_at(clause, call))


def looked_at(clause: Clause, call: Call) -> JsonValue | Missing:
    """The value a clause judges."""
    match clause.subject:
        case "arguments":
            return clause.path.lookup(call.arguments)
        case "result":
            return MISSING if isinstance(call.result, Missing) else clause.path.lookup(call.result)
        case "is_error":
            return call.is_error


def offered(evidence: Evidence) -> frozenset[str]:
    """Every name of every tool the model was offered or an observed server has."""
    tools = {tool for asked in evidence.of(Asked) for tool in asked.tools}
    names = {name for tool in tools for name in named(tool, _lane(evidence, tool))}
    return frozenset(names | evidence.lane_of.keys())


def _concerns(assertion: CallAssertion, call: Call) -> bool:
    if assertion.kind in ("request", "no_request") or assertion.at == "model":
        return not call.dispatched
    return call.dispatched if assertion.at == "mcp" else call.counts


def _observed(evidence: Evidence) -> Iterator[Call]:
    decided = {event.call: event for event in evidence.of(Decided)}
    groups: dict[int, int] = {}
    for event in decided.values():
        groups.setdefault(event.group, event.seq)
    returned = {event.call: event for event in evidence.of(Returned)}
    told = {event.call: event for event in evidence.of(Told)}
    others = reached(evidence)
    for event in evidence.of(Decided):
        lane = _lane(evidence, event.tool)
        yield Call(
            event.seq,
            event.call,
            event.tool,
            named(event.tool, lane) | _others(event, others),
            event.arguments,
            event.turn,
            groups[event.group],
            False,
            lane is None,
            *_outcome(told.get(event.call) or returned.get(event.call)),
        )
    for sent in evidence.of(Dispatched):
        origin = decided.get(sent.call)
        yield Call(
            sent.seq,
            sent.call,
            sent.tool,
            named(sent.tool, sent.lane) | _others(sent, others),
            sent.arguments,
            sent.turn if sent.turn is not None else origin.turn if origin else None,
            groups[origin.group] if origin else sent.seq,
            True,
            True,
            *_outcome(returned.get(sent.call) or told.get(sent.call)),
        )


def _others(event: Decided | Dispatched, others: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """What else the tool is called that an adapter asked for."""
    return others.get(event.tool, frozenset()) if event.lane == ADAPTER else frozenset()


def _outcome(event: Returned | Told | None) -> tuple[JsonValue | Missing, bool | Missing]:
    return (event.result, event.is_error) if event is not None else (MISSING, MISSING)


def _lane(evidence: Evidence, tool: str) -> str | None:
    """The observed lane that carries a tool out."""
    lane = _by_name(evidence.lane_of, tool)
    return lane if lane in evidence.observed_lanes else None


def _by_name(lane_of: Mapping[str, str], tool: str) -> str | None:
    if tool in lane_of:
        return lane_of[tool]
    return next((lane_of[name] for name in sorted(named(tool, None)) if name in lane_of), None)
