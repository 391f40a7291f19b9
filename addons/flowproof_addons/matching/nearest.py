"""The recording that a diverging request was most likely meant to be. Bounded: never a comparison with every turn."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from flowproof_addons.matching.view import View
from flowproof_addons.trace.model import JsonBody, JsonValue

_FIRST, _LIKE = 24, 24
"""Recordings looked at: the earliest unused ones, and those closest in length."""


def nearest(sent: View, recorded: Sequence[View], used: AbstractSet[int]) -> int | None:
    """Index of the recording that has most in common with a request; unused ones come first. None: nothing recorded."""
    turns = [index for index, view in enumerate(recorded) if (view.dialect is None) == (sent.dialect is None)]
    turns = [index for index in turns if recorded[index].user_turn == sent.user_turn] or turns
    unused = [index for index in turns if index not in used]
    candidates = _candidates(sent, recorded, unused or turns)
    return max(candidates, key=lambda index: (_likeness(sent, recorded[index]), -index), default=None)


def _candidates(sent: View, recorded: Sequence[View], indexes: Sequence[int]) -> Iterable[int]:
    length = _length(sent)
    like = heapq.nsmallest(_LIKE, indexes, key=lambda index: (abs(_length(recorded[index]) - length), index))
    return dict.fromkeys([*islice(indexes, _FIRST), *like])


def _likeness(sent: View, recorded: View) -> tuple[bool, bool, int, int]:
    """Same API, same path, how many members and items the two have in common, how close they are in length."""
    return (
        sent.dialect == recorded.dialect,
        (sent.request.method, sent.request.path) == (recorded.request.method, recorded.request.path),
        (Counter(_parts(sent)) & Counter(_parts(recorded))).total(),
        -abs(_length(sent) - _length(recorded)),
    )


def _length(view: View) -> int:
    """Items in the body's lists: how long the conversation is."""
    value = view.body.value if isinstance(view.body, JsonBody) else None
    return sum(len(member) for member in value.values() if isinstance(member, list)) if isinstance(value, dict) else 0


def _parts(view: View) -> Iterator[tuple[str, bytes]]:
    if not isinstance(view.marked, JsonBody) or not isinstance(view.marked.value, dict):
        return
    for name, member in view.marked.value.items():
        for part in _items(member):
            yield name, view.digester.item(part)


def _items(member: JsonValue) -> Sequence[JsonValue]:
    return member if isinstance(member, list) else [member]
