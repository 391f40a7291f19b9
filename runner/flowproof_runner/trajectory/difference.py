"""From two trajectories to what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.matchers.matchers import equal
from flowproof_runner.trajectory.change import Change, Difference, shown
from flowproof_runner.trajectory.model import Call, Prompt, Trajectory
from flowproof_runner.trajectory.values import changes

_AROUND = 20
"""Characters shown on both sides of where two texts differ."""


def difference(before: Trajectory, after: Trajectory) -> Difference:
    """What the agent does and is told differently in `after`."""
    return Difference((*_does(before, after), *_told(before, after)))


def _does(before: Trajectory, after: Trajectory) -> Iterator[Change]:
    yield from _calls(before.calls, after.calls)
    if before.reply != after.reply:
        yield _text("reply", "the reply", before.reply, after.reply)


def _calls(before: Sequence[Call], after: Sequence[Call]) -> Iterator[Change]:
    gone: list[Call] = []
    come: list[Call] = []
    names = SequenceMatcher(None, [call.tool for call in before], [call.tool for call in after], autojunk=False)
    for kind, i, to_i, j, to_j in names.get_opcodes():
        if kind == "equal":
            for old, new in zip(before[i:to_i], after[j:to_j], strict=True):
                yield from _arguments(old, new)
        else:
            gone += before[i:to_i]
            come += after[j:to_j]
    for old in gone:
        again = next((call for call in come if call.tool == old.tool), None)
        if again is None:
            yield Change("removed", f"{old.tool} is called no more", before=shown(old.arguments), tool=old.tool)
            continue
        come.remove(again)
        yield Change("moved", f"{old.tool} is called at another place", tool=old.tool)
        yield from _arguments(old, again)
    for new in come:
        yield Change("added", f"{new.tool} is called in addition", after=shown(new.arguments), tool=new.tool)


def _arguments(old: Call, new: Call) -> Iterator[Change]:
    for path, before, after in changes(old.arguments, new.arguments):
        what = f"{old.tool}: {path or 'the arguments'}"
        yield Change("arguments", what, shown(before), shown(after), old.tool)


def _told(before: Trajectory, after: Trajectory) -> Iterator[Change]:
    yield from _prompts(before.prompts, after.prompts)
    if before.models != after.models:
        yield Change("model", "the model asked for", ", ".join(before.models), ", ".join(after.models))
    yield from _catalogue("tool", "offered", before.tools, after.tools)
    for name in dict.fromkeys((*before.servers, *after.servers)):
        old, new = before.servers.get(name, {}), after.servers.get(name, {})
        yield from _catalogue("server", f"offered by MCP server {name}", old, new)
    for path, was, now in changes(before.settings, after.settings):
        yield Change("setting", f"request: {path}", shown(was), shown(now))


def _prompts(before: Sequence[Prompt], after: Sequence[Prompt]) -> Iterator[Change]:
    for kind, i, to_i, j, to_j in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        for old, new in zip_longest(before[i:to_i], after[j:to_j]):
            if old is not None and new is not None and old.role == new.role:
                yield _text("prompt", f"{old.role} text", old.text, new.text)
                continue
            if old is not None:
                yield Change("prompt", f"{old.role} text is gone", before=old.text)
            if new is not None:
                yield Change("prompt", f"{new.role} text is new", after=new.text)


def _catalogue(
    kind: Literal["tool", "server"], where: str, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]
) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            yield Change(kind, f"tool {name} is no longer {where}", tool=name)
        elif name not in before:
            yield Change(kind, f"tool {name} is {where} in addition", tool=name)
        elif not equal(before[name], after[name]):
            for path, was, now in changes(before[name], after[name]):
                yield Change(kind, f"tool {name} {where}: {path}", shown(was), shown(now), name)


def _text(kind: Literal["reply", "prompt"], what: str, before: str | None, after: str | None) -> Change:
    old, new = _span(before or "", after or "")
    return Change(kind, what, None if before is None else old, None if after is None else new)


def _span(before: str, after: str) -> tuple[str, str]:
    """The part of two texts that differs, with a little around it."""
    most = min(len(before), len(after))
    head = next((at for at in range(most) if before[at] != after[at]), most)
    tail = next((at for at in range(most - head) if before[-1 - at] != after[-1 - at]), most - head)
    return _cut(before, head, tail), _cut(after, head, tail)


def _cut(text: str, head: int, tail: int) -> str:
    begin, end = max(0, head - _AROUND), min(len(text), len(text) - tail + _AROUND)
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"
