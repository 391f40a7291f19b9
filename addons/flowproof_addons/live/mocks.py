"""Spec-authored tool results: which one answers which call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from flowproof_addons.declared import choose
from flowproof_addons.dialects.base import Mock, ToolCall, ToolResult
from flowproof_addons.session import MockResult, ToolMock
from flowproof_addons.trace.model import JsonValue


class MocksExhausted(Exception):
    """A tool was called once more than the spec has `results:` for it."""

    def __init__(self, tool: str, call: int) -> None:
        super().__init__(f"tool {tool!r}: call {call} has no result; the spec's `results:` holds {call - 1}")
        self.tool = tool
        self.call = call


class Mocks:
    """Decides each call's result once and keeps to it however often the history is resent.

    Calls are numbered per tool in the order the model decided them, so results of parallel calls may arrive in any
    order. A result whose call was never seen (a history the agent brought along) is numbered when first met.
    """

    def __init__(self, mocks: Sequence[ToolMock]) -> None:
        self._mocks: Mapping[str, ToolMock] = {mock.name: mock for mock in mocks}
        self._ordinals: dict[tuple[str, str, int], int] = {}
        self._arguments: dict[tuple[str, str, int], JsonValue] = {}
        self._seen: dict[tuple[str, str], int] = defaultdict(int)
        self._count: dict[str, int] = defaultdict(int)
        self._names: dict[str, str] = {}
        self._spoilt: set[tuple[str, str]] = set()

    def decided(self, calls: Iterable[ToolCall]) -> None:
        """Note the calls of one served reply, in order."""
        for call in calls:
            self._names[call.id] = call.name
            self._spoilt.discard((call.name, call.id))
            occurrence = self._seen[call.name, call.id]
            self._seen[call.name, call.id] = occurrence + 1
            key = (call.name, call.id, occurrence)
            self._number(key)
            self._arguments[key] = call.arguments

    def spoilt(self, calls: Iterable[ToolCall]) -> None:
        """Note calls only a faulted reply asked for: what the agent tells of one is its own handling of the fault."""
        self._spoilt |= {(call.name, call.id) for call in calls}

    def replacements(self, results: Iterable[ToolResult]) -> dict[tuple[str | int, ...], Mock]:
        """The results of one request that the spec authored, by path. Raises MocksExhausted."""
        met: dict[tuple[str, str], int] = defaultdict(int)
        replaced: dict[tuple[str | int, ...], Mock] = {}
        for result in results:
            name = result.name or self._names.get(result.call_id, "")
            mock = self._mocks.get(name)
            if mock is None or not mock.results or (name, result.call_id) in self._spoilt:
                continue
            occurrence = met[name, result.call_id]
            met[name, result.call_id] += 1
            chosen = self._choose(mock, (name, result.call_id, occurrence))
            if chosen is not None:
                replaced[result.path] = Mock(chosen.content, chosen.is_error)
        return replaced

    def _number(self, key: tuple[str, str, int]) -> int:
        if key not in self._ordinals:
            self._count[key[0]] += 1
            self._ordinals[key] = self._count[key[0]]
        return self._ordinals[key]

    def _choose(self, mock: ToolMock, key: tuple[str, str, int]) -> MockResult | None:
        ordinal = self._number(key)
        chosen = choose(mock.results, mock.repeat, ordinal, self._arguments.get(key))
        if chosen is None and not mock.repeat:
            raise MocksExhausted(mock.name, ordinal)
        return chosen
