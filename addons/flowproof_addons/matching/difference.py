"""Where two JSON values part, in the order in which a reader should learn of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest

from flowproof_addons.matching import excerpt, kinds
from flowproof_addons.matching.excerpt import Excerpt
from flowproof_addons.matching.paths import written
from flowproof_addons.trace.json_value import compact, same
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import Path

MOST = 100
"""Differences looked for; a report shows the first few."""

NUMBERS = ("number literal", "different number")
_OF_A_CALL = ("tool_call_id", "tool_use_id", "call_id")
_POSITIONAL = "cache_control"
_MINOR = ("cache_control added", "cache_control removed", "text against list of text")
"""What clients move about from turn to turn: told last, or alone."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where what was sent is not what was recorded."""

    path: str
    """`messages[0].content`; ` → ` leads into JSON that stands in a text."""
    kind: str
    """`two dates`, `added`, `missing`, `number literal`, `different text`, ..."""
    recorded: Excerpt | None = None
    """None: not there."""
    sent: Excerpt | None = None
    place: Path = field(default=(), compare=False)
    """The path down to the outermost text or value, for a pin."""
    texts: tuple[str, str] | None = field(default=None, compare=False, repr=False)
    """The two whole texts there, where both are text; numbers in JSON that stands in a text are text too."""
    inside: tuple[Path, ...] = field(default=(), compare=False)
    """Where `place` is a text that holds JSON: the way on to the difference, once for each such text."""


def differences(recorded: JsonValue, sent: JsonValue) -> tuple[Difference, ...]:
    """The differences in document order, minor ones last; at most `MOST`."""
    found = list(islice(_between(recorded, sent, (), ""), MOST))
    return tuple(sorted(found, key=lambda difference: difference.kind in _MINOR))


def _between(recorded: JsonValue, sent: JsonValue, place: Path, shown: str) -> Iterator[Difference]:
    if same(recorded, sent):
        return
    match recorded, sent:
        case dict(), dict():
            yield from _objects(recorded, sent, place, shown)
        case list(), list():
            yield from _lists(recorded, sent, place, shown)
        case str(), str():
            yield from _texts(recorded, sent, place, shown)
        case _:
            yield Difference(shown, _plain(recorded, sent), _value(recorded), _value(sent), place)


def _objects(old: dict[str, JsonValue], new: dict[str, JsonValue], place: Path, shown: str) -> Iterator[Difference]:
    for key in [*old, *(key for key in new if key not in old)]:
        where = _below(shown, key)
        if key not in new:
            kind = f"{key} removed" if key == _POSITIONAL else "missing"
            yield Difference(where, kind, _value(old[key]), None, (*place, key))
        elif key not in old:
            kind = f"{key} added" if key == _POSITIONAL else "added"
            yield Difference(where, kind, None, _value(new[key]), (*place, key))
        else:
            yield from _between(old[key], new[key], (*place, key), where)


def _lists(old: list[JsonValue], new: list[JsonValue], place: Path, shown: str) -> Iterator[Difference]:
    head = next(
        (index for index, pair in enumerate(zip(old, new, strict=False)) if not same(*pair)), min(len(old), len(new))
    )
    rest = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
    tail = next((index for index, pair in enumerate(rest) if not same(*pair)), min(len(old), len(new)) - head)
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(left) == len(right) > 1 and sorted(map(_sorting, left)) == sorted(map(_sorting, right)):
        yield Difference(_below(shown, head), "another order", _value(left[0]), _value(right[0]), (*place, head))
        return
    for offset, (one, other) in enumerate(zip_longest(left, _beside(left, right), fillvalue=_NOTHING)):
        where, at = _below(shown, head + offset), (*place, head + offset)
        if isinstance(one, _Nothing):
            assert not isinstance(other, _Nothing)
            yield Difference(where, "new item", None, _value(other), at)
        elif isinstance(other, _Nothing):
            yield Difference(where, "missing item", _value(one), None, at)
        else:
            yield from _between(one, other, at, where)


def _beside(left: list[JsonValue], right: list[JsonValue]) -> list[JsonValue]:
    """The results of parallel calls, compared in any order, each at the place of the one of the same call."""
    calls, by_call = [_call(item) for item in left], {_call(item): item for item in right}
    if "" in by_call or sorted(calls) != sorted(by_call) or len(by_call) != len(right):
        return right
    return [by_call[call] for call in calls]


def _call(item: JsonValue) -> str:
    """The id of the call whose result an item is; empty for anything else."""
    ids = (item.get(name) for name in _OF_A_CALL) if isinstance(item, dict) else ()
    return next((id for id in ids if isinstance(id, str)), "")


def _texts(old: str, new: str, place: Path, shown: str) -> Iterator[Difference]:
    inside = kinds.embedded(old, new)
    if inside is None:
        spot = kinds.spot(old, new)
        yield Difference(
            shown,
            kinds.title(old, new),
            excerpt.around(old, *spot.recorded),
            excerpt.around(new, *spot.sent),
            place,
            (old, new),
        )
    elif same(*inside):
        spot = kinds.spot(old, new)
        title = kinds.layout_title(*inside)
        yield Difference(
            shown, title, excerpt.around(old, *spot.recorded), excerpt.around(new, *spot.sent), place, (old, new)
        )
    else:
        for found in _between(*inside, (), ""):
            way = (found.place, *found.inside)
            yield replace(found, path=f"{shown} → {found.path}", place=place, texts=_written(found), inside=way)


def _written(found: Difference) -> tuple[str, str] | None:
    """The two texts at a difference inside a text, where numbers are text too."""
    if found.texts is None and found.kind in NUMBERS and found.recorded and found.sent:
        return found.recorded.text, found.sent.text
    return found.texts


def _plain(old: JsonValue, new: JsonValue) -> str:
    """The kind of difference between values of which at least one is neither text nor of the other's build."""
    if _text_of(old) is not None and _text_of(old) == _text_of(new):
        return "text against list of text"
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (old, new)]
    if all(numbers):
        return NUMBERS[old != new]
    empty = [value is None or value in ("", [], {}) for value in (old, new)]
    if all(empty):
        return "null against empty"
    return "different value" if type(old) is type(new) else "different type"


def _text_of(value: JsonValue) -> str | None:
    """The text of a content that is a text, or a list of one text block."""
    if isinstance(value, str):
        return value
    match value:
        case [{"text": str(text), **rest}] if set(rest) <= {"type", _POSITIONAL}:
            return text
        case _:
            return None


def _value(value: JsonValue) -> Excerpt:
    text = compact(value)
    return excerpt.whole(text)


def _below(shown: str, step: str | int) -> str:
    text = written((step,))
    return shown + text if isinstance(step, int) or not shown else f"{shown}.{text}"


def _sorting(value: JsonValue) -> str:
    return compact(value, sort_keys=True)


class _Nothing:
    pass


_NOTHING = _Nothing()
