"""Evidence as a contract sees it: one logical call per tool use, and which answers informed it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import (
    ADAPTER,
    Asked,
    Concluded,
    Dispatched,
    Diverged,
    Evidence,
    Replied,
    Returned,
    Told,
)
from flowproof_runner.expectations.contract.call import Call, logical_calls
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
        return tuple(sorted(logical_calls(self.evidence), key=lambda call: call.seq))

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
            as_sent = call.lane == ADAPTER and isinstance(event, Returned)
            value = event.result if as_sent else decoded(event.result)
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
    def prompted(self) -> Mapping[int, int]:
        """Number of a prompt -> a position before all that came of it; where there is one task, it is prompt 1."""
        given: dict[int, int] = {}
        for event in self.evidence.events:
            number = 1 if event.user_turn is None else event.user_turn
            for each in range(len(given) + 1, number + 1):
                given[each] = event.seq - 1
        return given

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


def _by_name(calls: tuple[Call, ...]) -> Mapping[str, tuple[Call, ...]]:
    found: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        for name in call.names:
            found[name].append(call)
    return {name: tuple(calls) for name, calls in found.items()}


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
    """Dispatch id or adapter's id -> id of the logical call it was joined to."""
    by_seq = {call.seq: call.id for call in by_id.values()}
    joined = {event.call: by_seq[event.seq] for event in evidence.of(Dispatched) if event.seq in by_seq}
    return joined | {call.adapter_id: call.id for call in by_id.values() if call.adapter_id}
