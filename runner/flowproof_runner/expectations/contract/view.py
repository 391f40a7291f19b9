"""Evidence as a contract sees it: one logical call per tool use, and which answers informed it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import (
    ADAPTER,
    MODEL,
    Asked,
    Concluded,
    Decided,
    Denied,
    Dispatched,
    Diverged,
    Evidence,
    Replied,
    Returned,
    Told,
)
from flowproof_runner.evidence.names import aliases, named
from flowproof_runner.expectations.contract.values import Key, decoded, key

_ENDINGS = {
    "length": "truncated",
    "max_tokens": "truncated",
    "max_output_tokens": "truncated",
    "incomplete": "truncated",
    "refusal": "refused",
    "content_filter": "refused",
}


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


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call was answered."""

    call: Call
    value: JsonValue
    seq: int
    nth: int
    """Among the answers of its tool, from 0."""
    is_error: bool = False
    mocked: bool = False


@dataclass
class View:
    """A run's evidence, indexed once and read by every check."""

    evidence: Evidence

    @cached_property
    def requested(self) -> tuple[Call, ...]:
        """Every call, carried out or not, in order."""
        return tuple(sorted(_calls(self.evidence), key=lambda call: call.seq))

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The calls that count, in order."""
        return tuple(call for call in self.requested if call.counted)

    @cached_property
    def by_tool(self) -> Mapping[str, tuple[Call, ...]]:
        """The calls that count, under each name of their tool."""
        return _by_name(self.calls)

    @cached_property
    def requested_by_tool(self) -> Mapping[str, tuple[Call, ...]]:
        """Every call, under each name of its tool."""
        return _by_name(self.requested)

    @cached_property
    def answers(self) -> Mapping[str, tuple[Answer, ...]]:
        """Answers under each name of their tool, in order: what the model was told, else what the server returned."""
        found: dict[str, list[Answer]] = defaultdict(list)
        for call, event in _answers(self.evidence, self.requested):
            value = event.result if call.lane == ADAPTER else decoded(event.result)
            for name in call.names:
                answers = found[name]
                answers.append(Answer(call, value, event.seq, len(answers), event.is_error, event.mocked))
        return {name: tuple(answers) for name, answers in found.items()}

    @cached_property
    def answered(self) -> Mapping[str, int]:
        """Call id -> the position of its first answer."""
        first: dict[str, int] = {}
        for answers in self.answers.values():
            for answer in answers:
                first[answer.call.id] = min(answer.seq, first.get(answer.call.id, answer.seq))
        return first

    @cached_property
    def outcome(self) -> Concluded | None:
        """The last declared outcome."""
        return next(reversed(tuple(self.evidence.of(Concluded))), None)

    @cached_property
    def diverged(self) -> bool:
        """True when replay met a request that no recording answers."""
        return any(True for _ in self.evidence.of(Diverged))

    @cached_property
    def turns(self) -> int:
        """Model turns of the run."""
        return sum(1 for _ in self.evidence.of(Asked))

    @cached_property
    def tokens(self) -> int | None:
        """Tokens in and out, None when no reply said."""
        counts = [
            (reply.input_tokens or 0) + (reply.output_tokens or 0)
            for reply in self.evidence.of(Replied)
            if reply.input_tokens is not None or reply.output_tokens is not None
        ]
        return sum(counts) if counts else None

    @cached_property
    def status(self) -> str | None:
        """How the run ended: as it declared itself, else by the last reply's stop reason."""
        if self.outcome is not None and self.outcome.status is not None:
            return self.outcome.status
        last = next(reversed(tuple(self.evidence.of(Replied))), None)
        if last is None:
            return None
        if last.status >= 400:
            return "error"
        return _ENDINGS.get(last.stop or "", "completed")

    @cached_property
    def duration_ms(self) -> float | None:
        """How long the run took, as far as its driver measured."""
        if self.evidence.duration_ms is not None:
            return self.evidence.duration_ms
        return max((event.at_ms for event in self.evidence.events if event.at_ms is not None), default=None)

    def informs(self, answer: Answer, call: Call) -> bool:
        """True when the answer was known to whoever decided the call."""
        if call.known is None:
            return answer.seq < call.seq
        return answer.call.id in call.known

    @cached_property
    def _argument_index(self) -> dict[tuple[str, tuple[str | int, ...]], dict[Key, list[Answer]]]:
        return {}

    def answers_by_argument(self, tool: str, path: tuple[str | int, ...]) -> Mapping[Key, list[Answer]]:
        """The tool's answers by the value of one argument of the call that got them."""
        index = self._argument_index.get((tool, path))
        if index is None:
            index = defaultdict(list)
            for answer in self.answers.get(tool, ()):
                for value in at(answer.call.arguments, path):
                    index[key(value)].append(answer)
            self._argument_index[tool, path] = index
        return index

    @cached_property
    def _call_index(self) -> dict[tuple[str, tuple[str | int, ...], bool], dict[Key, list[Call]]]:
        return {}

    def calls_by_argument(self, tool: str, path: tuple[str | int, ...], requested: bool) -> Mapping[Key, list[Call]]:
        """The tool's calls by the value of one argument."""
        index = self._call_index.get((tool, path, requested))
        if index is None:
            index = defaultdict(list)
            for call in (self.requested_by_tool if requested else self.by_tool).get(tool, ()):
                for value in at(call.arguments, path):
                    index[key(value)].append(call)
            self._call_index[tool, path, requested] = index
        return index


def at(value: JsonValue, path: tuple[str | int, ...]) -> tuple[JsonValue, ...]:
    """The value at a plain path, as a tuple that is empty where there is none."""
    for step in path:
        if isinstance(value, dict) and str(step) in value:
            value = value[str(step)]
        elif isinstance(value, list) and (index := _index(step)) is not None and index < len(value):
            value = value[index]
        else:
            return ()
    return (value,)


def _index(step: str | int) -> int | None:
    if isinstance(step, int):
        return step if step >= 0 else None
    return int(step) if step.isascii() and step.isdecimal() and len(step) < 10 else None


def names_of(tool: str, lane: str) -> tuple[str, ...]:
    """Every name a tool answers to: bare, and with its server in the usual spellings."""
    return tuple(named(tool, None) if lane in (MODEL, ADAPTER) else aliases(lane, tool))


def _by_name(calls: tuple[Call, ...]) -> Mapping[str, tuple[Call, ...]]:
    found: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        for name in call.names:
            found[name].append(call)
    return {name: tuple(calls) for name, calls in found.items()}


def _calls(evidence: Evidence) -> list[Call]:
    """Decisions and dispatches joined: by id, else by tool and arguments in order."""
    decided = list(evidence.of(Decided))
    dispatched = list(evidence.of(Dispatched))
    denied = {event.call: event for event in evidence.of(Denied)}
    partner = _joined(decided, dispatched, evidence)
    calls: list[Call] = []
    taken: set[int] = set()
    for decision in decided:
        dispatch = partner.get(decision.seq)
        if dispatch is not None:
            taken.add(dispatch.seq)
        calls.append(_logical(decision, dispatch, decision.call in denied, evidence))
    for dispatch in dispatched:
        if dispatch.seq not in taken:
            calls.append(_undecided(dispatch))
    seen = {call.id for call in calls}
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


def _logical(decision: Decided, dispatch: Dispatched | None, denied: bool, evidence: Evidence) -> Call:
    names = names_of(decision.tool, decision.lane)
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


def _answers(evidence: Evidence, calls: tuple[Call, ...]) -> list[tuple[Call, Told | Returned]]:
    """The first telling of each call's answer; where the model was told nothing, the server's answer."""
    by_id = {call.id: call for call in calls}
    aliases = _returned_as(evidence, by_id)
    found: dict[str, tuple[Call, Told | Returned]] = {}
    for event in evidence.events:
        if not isinstance(event, Told | Returned):
            continue
        call = by_id.get(aliases.get(event.call, event.call))
        if call is None:
            continue
        told = found.get(call.id)
        if told is None or (isinstance(event, Told) and isinstance(told[1], Returned) and call.known is not None):
            found[call.id] = (call, event)
    return sorted(found.values(), key=lambda pair: pair[1].seq)


def _returned_as(evidence: Evidence, by_id: Mapping[str, Call]) -> Mapping[str, str]:
    """Dispatch id -> id of the logical call it was joined to."""
    by_seq = {call.seq: call.id for call in by_id.values()}
    return {event.call: by_seq[event.seq] for event in evidence.of(Dispatched) if event.seq in by_seq}
