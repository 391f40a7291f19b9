"""One logical call for each use of a tool: the decision, the dispatch and the refusal of it joined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import ADAPTER, MODEL, Decided, Denied, Dispatched, Evidence
from flowproof_runner.evidence.names import aliases, named, reached
from flowproof_runner.expectations.contract.values import Key, key


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a tool, with what was seen of it."""

    id: str
    tool: str
    lane: str
    arguments: JsonValue
    seq: int
    """Of the observation that counts: the dispatch where that is observed, else the decision."""
    group: int | None = None
    """Calls of one reply share it; their order means nothing."""
    known: frozenset[str] | None = None
    """Calls whose answers were in the request behind this one; None: everything answered before `seq`."""
    counted: bool = True
    """Carried out, as far as that is observed: False for what was only asked for."""
    denied: bool = False
    names: tuple[str, ...] = ()
    """Every name the tool answers to."""
    adapter_id: str = ""
    """The adapter's own id of a call that a model had wished for; `id` is the model's."""


def logical_calls(evidence: Evidence) -> list[Call]:
    """Decisions and dispatches joined: by id, else by tool and arguments in order."""
    decided = list(evidence.of(Decided))
    dispatched = list(evidence.of(Dispatched))
    denied = {event.call: event for event in evidence.of(Denied)}
    partner = _joined(decided, dispatched, evidence)
    wishes = _wishes(decided)
    granted = {wish.seq for wish in wishes.values()}
    others = reached(evidence)
    calls: list[Call] = []
    taken: set[int] = set()
    for decision in decided:
        if decision.seq in granted:
            continue
        dispatch = partner.get(decision.seq)
        if dispatch is not None:
            taken.add(dispatch.seq)
        call = _logical(decision, dispatch, decision.call in denied, evidence, others)
        wish = wishes.get(decision.seq)
        calls.append(call if wish is None else _wished(call, wish))
    for dispatch in dispatched:
        if dispatch.seq not in taken:
            calls.append(_undecided(dispatch))
    seen = {id for call in calls for id in (call.id, call.adapter_id)}
    calls += [_refused(event) for event in denied.values() if event.call not in seen]
    return calls


def _joined(decided: list[Decided], dispatched: list[Dispatched], evidence: Evidence) -> Mapping[int, Dispatched]:
    by_id = {(event.call, event.lane == ADAPTER): event for event in dispatched}
    partner: dict[int, Dispatched] = {}
    for decision in decided:
        same = by_id.get((decision.call, decision.lane == ADAPTER))
        if same is not None:
            partner[decision.seq] = same
    taken = {event.seq for event in partner.values()}
    waiting: dict[tuple[str, Key], list[Dispatched]] = defaultdict(list)
    for dispatch in dispatched:
        if dispatch.seq not in taken and dispatch.lane != ADAPTER:
            for name in names_of(dispatch.tool, dispatch.lane):
                waiting[name, key(dispatch.arguments)].append(dispatch)
    for decision in decided:
        if decision.seq in partner or decision.lane == ADAPTER:
            continue
        for dispatch in waiting.get((decision.tool, key(decision.arguments)), ()):
            if dispatch.seq > decision.seq and dispatch.seq not in taken:
                partner[decision.seq] = dispatch
                taken.add(dispatch.seq)
                break
    return partner


def _wishes(decided: list[Decided]) -> Mapping[int, Decided]:
    """Position of an adapter's call -> the model's decision it carries out: the earliest equal one not yet used."""
    waiting: dict[tuple[str, Key], list[Decided]] = defaultdict(list)
    found: dict[int, Decided] = {}
    for decision in sorted(decided, key=lambda each: each.seq):
        if decision.lane != ADAPTER:
            waiting[decision.tool, key(decision.arguments)].append(decision)
        elif wishes := waiting.get((decision.tool, key(decision.arguments))):
            found[decision.seq] = wishes.pop(0)
    return found


def _wished(call: Call, wish: Decided) -> Call:
    """An adapter's call as what a model decided: it was informed by what the model had been told."""
    return replace(call, id=wish.call, adapter_id=call.id, group=wish.group, known=frozenset(wish.known))


def _logical(
    decision: Decided,
    dispatch: Dispatched | None,
    denied: bool,
    evidence: Evidence,
    others: Mapping[str, frozenset[str]],
) -> Call:
    names = names_of(decision.tool, decision.lane, others)
    if dispatch is not None:
        names = tuple(dict.fromkeys((*names, *names_of(dispatch.tool, dispatch.lane))))
    lane = dispatch.lane if dispatch is not None else decision.lane
    observed = decision.lane == ADAPTER or any(evidence.lane_of.get(name) in evidence.observed_lanes for name in names)
    return Call(
        id=decision.call,
        tool=dispatch.tool if dispatch is not None and decision.lane != ADAPTER else decision.tool,
        lane=lane,
        arguments=decision.arguments,
        seq=decision.seq if dispatch is None or lane == ADAPTER else dispatch.seq,
        group=decision.group if decision.lane == MODEL else None,
        known=frozenset(decision.known) if decision.lane == MODEL else None,
        counted=dispatch is not None or not observed or (decision.lane == ADAPTER and not denied),
        denied=denied,
        names=names,
    )


def _undecided(dispatch: Dispatched) -> Call:
    return Call(
        id=dispatch.call,
        tool=dispatch.tool,
        lane=dispatch.lane,
        arguments=dispatch.arguments,
        seq=dispatch.seq,
        known=frozenset(dispatch.known) if dispatch.known else None,
        names=names_of(dispatch.tool, dispatch.lane),
    )


def _refused(event: Denied) -> Call:
    return Call(
        event.call,
        event.tool,
        event.lane,
        event.arguments,
        event.seq,
        counted=False,
        denied=True,
        names=names_of(event.tool, event.lane),
    )


def names_of(tool: str, lane: str, others: Mapping[str, frozenset[str]] = MappingProxyType({})) -> tuple[str, ...]:
    """Every name a tool answers to: bare, and with its server in the usual spellings.

    `others`: what an adapter's names reach, see `reached`.
    """
    if lane == ADAPTER:
        return tuple(named(tool, None) | others.get(tool, frozenset()))
    return tuple(named(tool, None) if lane == MODEL else aliases(lane, tool))
