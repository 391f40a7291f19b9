"""Who is who in a run: which conversation a turn belongs to, and which call a result answers.

Providers' call ids are not always unique (stand-ins answer `call_1` for ever) and not always there, so a call's
identity within the run is made here, and a result is joined to it by id, or by tool name, and by occurrence.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from flowproof_addons.dialects.base import ModelReply, ModelRequest, ToolCall, ToolResult

type _Key = tuple[str, str]


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
    decided: dict[_Key, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    """(thread, id or name) -> identity and tool of each such call, in order."""
    used: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)

    def thread(self, request: ModelRequest) -> str:
        """The conversation a request belongs to: the one it continues, else the one with its system text."""
        if request.previous_id in self.continued:
            return self.continued[request.previous_id]
        return self.threads.setdefault(request.system, f"thread-{len(self.threads) + 1}")

    def answered(self, thread: str, request: ModelRequest) -> tuple[Answered, ...]:
        """The results in a request, each joined to the call it answers."""
        met: dict[str, int] = defaultdict(int)
        open_calls = self._open() if request.previous_id is not None else None
        found: list[Answered] = []
        for result in request.results:
            key = result.call_id or result.name
            call, tool = self._joined(thread, key, met[key], open_calls)
            met[key] += 1
            found.append(Answered(call, tool or result.name, result, call not in self.told))
            self.told.add(call)
        return tuple(found)

    def known(self, request: ModelRequest, answers: tuple[Answered, ...]) -> tuple[str, ...]:
        """The calls whose results informed the answer to a request, in order."""
        before = self.informed.get(request.previous_id or "", ())
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

    def _open(self) -> frozenset[str]:
        """The calls whose result no request has carried."""
        return frozenset(call for calls in self.decided.values() for call, _ in calls) - self.told

    def _joined(self, thread: str, key: str, occurrence: int, open_calls: frozenset[str] | None) -> tuple[str, str]:
        """The call that the nth result with this id answers; a history the agent brought along has none.

        `open_calls`: of a request that carries new results only, the calls it may answer.
        """
        calls = self.decided.get((thread, key), [])
        if open_calls is not None:
            calls = [call for call in calls if call[0] in open_calls] or calls[-1:]
        if occurrence < len(calls):
            return calls[occurrence]
        return (f"{key}#before.{occurrence + 1}" if calls else key), ""
