"""What a spec tells the boundary, as the values the addons take."""

from __future__ import annotations

from collections.abc import Iterable

from flowproof_addons.session import MockResult, Pin, ToolMock
from flowproof_runner.spec.model import Spec
from flowproof_runner.spec.pins import PinEntry
from flowproof_runner.spec.tools import Tool


def tool_mocks(spec: Spec) -> tuple[ToolMock, ...]:
    """The results substituted at the model boundary; tools that are only declared are left out."""
    return tuple(
        ToolMock(name=tool.name, results=results(tool), repeat=not tool.results) for tool in spec.tools if tool.mocked
    )


def results(tool: Tool) -> tuple[MockResult, ...]:
    """A tool's results in the order they are tried."""
    if tool.repeated:
        return (MockResult(content=tool.result, is_error=tool.is_error),)
    if tool.results:
        return tuple(MockResult(content=each, is_error=tool.is_error) for each in tool.results)
    return tuple(
        MockResult(content=case.result, is_error=case.is_error, call=case.call, where=case.where) for case in tool.cases
    )


def pins(entries: Iterable[PinEntry]) -> tuple[Pin, ...]:
    """The spans of requests that may differ."""
    return tuple(_pin(entry) for entry in entries)


def _pin(entry: PinEntry) -> Pin:
    return Pin(
        at=entry.at or "",
        match=entry.match or "",
        kind="unordered" if entry.unordered else entry.kind or "text",
        why=entry.why,
        name=entry.label,
    )
