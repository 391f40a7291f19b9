"""Tool results in requests: how they are read, how a mock is written in their place, what is said around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import Mock, Said, ToolCall, ToolResult
from flowproof_addons.dialects.raw import Path
from flowproof_addons.trace.model import JsonValue


def read(content: JsonValue) -> JsonValue:
    """A result as evidence shows it: text parsed where it is JSON, a lone text part as its text, else as it is."""
    match content:
        case [{"text": str(text)}]:
            return _parsed(text)
        case str(text):
            return _parsed(text)
        case _:
            return content


def written(current: JsonValue, mock: Mock) -> JsonValue:
    """The mock in the shape the agent used: a string, or its list of text parts shrunk to one with the mock's text."""
    text = mock.content if isinstance(mock.content, str) else raw.compact(mock.content)
    parts = [part for part in raw.objects(current) if isinstance(part.get("text"), str)]
    return [{**parts[0], "text": text}] if parts else text


def groups(paths: Iterable[Path]) -> tuple[tuple[Path, ...], ...]:
    """Runs of items that stand next to each other in one list; a lone item has no order to lose."""
    runs: list[list[Path]] = []
    for path in paths:
        if runs and _follows(runs[-1][-1], path):
            runs[-1].append(path)
        else:
            runs.append([path])
    return tuple(tuple(run) for run in runs if len(run) > 1)


type Spoken = tuple[str, JsonValue, Iterable[ToolCall]]
"""An item of a conversation: role, content, the calls in it."""


def conversation(items: Iterable[Spoken], results: Iterable[ToolResult]) -> Iterator[Said]:
    """The items with their results in them. `results` lead to their item by the index in their path."""
    found: dict[str | int, list[ToolResult]] = {}
    for result in results:
        found.setdefault(result.path[1], []).append(result)
    for index, (role, content, calls) in enumerate(items):
        yield Said(role, text(content), tuple(calls), tuple(found.get(index, ())), tuple(_parts(content)))


def text(content: JsonValue) -> str:
    """A message's text as people read it: its text parts, each on lines of its own."""
    if not isinstance(content, list):
        return raw.as_text(content)
    return "\n".join(part for part in (raw.as_text(item.get("text")) for item in raw.objects(content)) if part)


_TOLD_ELSEWHERE = ("tool_use", "tool_result")


def _parts(content: JsonValue) -> Iterator[str]:
    """The kinds of the parts that are no text, calls and results left out."""
    for part in raw.objects(content):
        kind = raw.as_text(part.get("type"))
        if not isinstance(part.get("text"), str) and not kind.endswith(_TOLD_ELSEWHERE):
            yield kind or next(iter(part), "part")


def _follows(before: Path, after: Path) -> bool:
    last, index = before[-1], after[-1]
    return before[:-1] == after[:-1] and isinstance(last, int) and isinstance(index, int) and index == last + 1


def _parsed(text: str) -> JsonValue:
    try:
        return raw.parse(text)
    except ValueError:
        return text
