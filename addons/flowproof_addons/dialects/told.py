"""Tool results in requests: how they are read, how a mock is written in their place."""

from __future__ import annotations

from collections.abc import Iterable

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import Mock
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


def _follows(before: Path, after: Path) -> bool:
    last, index = before[-1], after[-1]
    return before[:-1] == after[:-1] and isinstance(last, int) and isinstance(index, int) and index == last + 1


def _parsed(text: str) -> JsonValue:
    try:
        return raw.parse(text)
    except ValueError:
        return text
