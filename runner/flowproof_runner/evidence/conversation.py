"""Who is who in a run: which conversation a turn belongs to, and which call a result answers.

Providers' call ids are not always unique (stand-ins answer `call_1` for ever) and not always there, so a call's
identity within the run is made here, and a result is joined to it by id, or by tool name, and by occurrence.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from flowproof_addons.dialects.base import ModelReply, ModelRequest, ToolCall, ToolResult

type _Key = tuple[str, str]
"""A conversation, and a call's id or else its tool."""
type _Call = tuple[str, str]
"""A call's identity and tool."""
type _Join = Callable[[list[_Call], str, int], _Call]
"""Finds the call that the nth result with a key answers."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A result found in a request, joined to its call."""

    call: str
    tool: str
    result: ToolResult
    new: bool
    """False: an earlier request of the run has carried it already."""


@dataclass(slots=True)
class Conversations:
    """What the turns so far have said."""

    threads: dict[str, str] = field(default_factory=dict)
    """System text -> thread."""
    continued: dict[str, str] = field(default_factory=dict)
    """Id of a reply -> its thread, for APIs that keep the history themselves."""
    informed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Id of a reply -> the calls whose results its model had seen."""
    decided: dict[_Key, list[_Call]] = field(default_factory=lambda: defaultdict(list))
    brought: dict[_Key, int] = field(default_factory=lambda: defaultdict(int))
    """How many results of each key answer no call of this run."""
    used: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)

    def thread(self, request: ModelRequest) -> str:
        """The conversation a request belongs to: the one it continues, else the one with its system text."""
        if request.previous_id in self.continued:
            return self.continued[request.previous_id]
        return self.threads.setdefault(request.system, f"thread-{len(self.threads) + 1}")

    def answered(self, thread: str, request: ModelRequest, *, whole: bool = True) -> tuple[Answered, ...]:
        """The results in a request, each joined to the call it answers. `whole`: the history is in it."""
        keys = [result.call_id or result.name for result in request.results]
        join = self._only_new() if request.previous_id is not None or not whole else self._resent(thread, Counter(keys))
        met = Counter[str]()
        found: list[Answered] = []
        for key, result in zip(keys, request.results, strict=True):
            call, tool = join(self.decided.get((thread, key), []), key, met[key])
            met[key] += 1
            found.append(Answered(call, tool or result.name, result, call not in self.told))
            self.told.add(call)
        return tuple(found)

    def known(
        self, request: ModelRequest, answers: tuple[Answered, ...], before: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """The calls whose results informed the answer to a request, in order; `before`: by the part left out."""
        before = before or self.informed.get(request.previous_id or "", ())
        return tuple(dict.fromkeys((*before, *(answer.call for answer in answers))))

    def decide(self, thread: str, turn: int, reply: ModelReply, known: tuple[str, ...]) -> tuple[str, ...]:
        """Note a reply; gives the identities of its calls."""
        if reply.id:
            self.continued[reply.id] = thread
            self.informed[reply.id] = known
        return tuple(self._identity(thread, turn, index, call) for index, call in enumerate(reply.calls))

    def _identity(self, thread: str, turn: int, index: int, call: ToolCall) -> str:
        unique = call.id if call.id and call.id not in self.used else f"{call.id or call.name}#{turn}.{index + 1}"
        self.used.add(unique)
        self.decided[thread, call.id or call.name].append((unique, call.name))
        return unique

    def _resent(self, thread: str, results: Counter[str]) -> _Join:
        """Joins results of a request that carries the whole history.

        More results than there were calls are of a history that the agent brought along; it stands at the front.
        """
        for key, count in results.items():
            more = count - len(self.decided.get((thread, key), []))
            self.brought[thread, key] = max(self.brought[thread, key], more)

        def join(calls: list[_Call], key: str, occurrence: int) -> _Call:
            nth = occurrence - self.brought[thread, key]
            return calls[nth] if 0 <= nth < len(calls) else (f"{key}#before.{occurrence + 1}", "")

        return join

    def _only_new(self) -> _Join:
        """Joins results of a request that carries only what is new: to the calls still waiting for theirs."""
        told = frozenset(self.told)

        def join(calls: list[_Call], key: str, occurrence: int) -> _Call:
            waiting = [call for call in calls if call[0] not in told] or calls[-1:]
            return waiting[occurrence] if occurrence < len(waiting) else (f"{key}#before.{occurrence + 1}", "")

        return join
