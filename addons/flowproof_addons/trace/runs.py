"""A run of frames that differ from the frame before them in a few leaves only: `{"at": ..., "each": [...]}`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from flowproof_addons.trace.frame import Frame
from flowproof_addons.trace.json_value import scalar
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import Path, get, pointer, put, split

_MOST_COLUMNS = 4
"""A frame that differs in more leaves is a frame of its own."""

_PAD: Path = ("pad",)
"""Stands for `Frame.pad` among the places; every other place is in the payload and written as a JSON pointer."""


class RunError(ValueError):
    """The stored run does not have the shape that is written here, or does not fit the frame before it."""


class Run:
    """Frames after `first`. Two of them differ in the leaves at `places`, and by one at each of `counters`."""

    def __init__(self, first: Frame, places: Sequence[Path], counters: Sequence[Path]) -> None:
        self.first = first
        self.last = first
        self.places = tuple(places)
        self.counters = tuple(counters)
        self.rows: list[tuple[JsonValue, ...]] = []
        self._template = _Template.of(first, [path for path in (*places, *counters) if path != _PAD])

    @classmethod
    def begin(cls, last: Frame, current: Frame) -> Run | None:
        """A run that holds `current`, or None when it differs from `last` in more than a run can hold."""
        found = _differences(last, current)
        if not found or len(found) > _MOST_COLUMNS:
            return None
        counters = [path for path, old, new in found if path != _PAD and _counts(old, new)]
        run = cls(last, [path for path, _, _ in found if path not in counters], counters)
        return run if run._template is not None and run.take(current) else None

    def take(self, current: Frame) -> bool:
        """Add a frame, if it fits."""
        found = _differences(self.last, current)
        if found is None:
            return False
        counted = {path for path, old, new in found if path in self.counters and _counts(old, new)}
        if len(counted) != len(self.counters) or any(
            path not in self.places for path, _, _ in found if path not in counted
        ):
            return False
        row = tuple(_leaf(current, path) for path in self.places)
        if self._rendered(row, len(self.rows) + 1) != current.render():
            return False
        self.rows.append(row)
        self.last = current
        return True

    def take_raw(self, raw: bytes) -> bool:
        """The same without reading the frame: only its one leaf. Most streams are runs of tokens."""
        if self._template is None or len(self.places) != 1 or self.counters or self.places[0] == _PAD or self.last.pad:
            return False
        token = self._template.only_leaf(raw)
        if token is None:
            return False
        self.rows.append((token,))
        self.last = replace(self.last, payload=put(self.last.payload, self.places[0], token))
        return True

    def stored(self) -> dict[str, JsonValue]:
        """The run as it stands in a file."""
        at: list[JsonValue] = ["pad" if path == _PAD else pointer(path) for path in self.places]
        rows: list[JsonValue] = [row[0] if len(at) == 1 else list(row) for row in self.rows]
        item: dict[str, JsonValue] = {"at": at[0] if len(at) == 1 else at, "each": rows}
        return {**item, "counts": [pointer(path) for path in self.counters]} if self.counters else item

    @classmethod
    def read(cls, first: Frame, item: dict[str, JsonValue]) -> Run:
        """The run that `item` stores. Raises RunError."""
        at, each, counts = item.get("at"), item.get("each"), item.get("counts", [])
        if not isinstance(each, list) or not isinstance(counts, list):
            raise RunError("a run of frames needs the lists `each` and, where it counts, `counts`")
        places = [_path(first, text) for text in (at if isinstance(at, list) else [at])]
        run = cls(first, places, [_path(first, text) for text in counts])
        run.rows = [_row(row, len(places), isinstance(at, list)) for row in each]
        return run

    def frames(self) -> Iterator[bytes]:
        """The bytes of a run that was read; afterwards `last` is its last frame. Raises RunError."""
        for number, row in enumerate(self.rows, 1):
            yield self._rendered(row, number)
        if self.rows:
            self.last = self._after(self.rows[-1])

    def _rendered(self, row: tuple[JsonValue, ...], number: int) -> bytes:
        if self._template is None:
            raise RunError("a run of frames names one leaf twice")
        counted = tuple(_count(get(self.first.payload, path), number) for path in self.counters)
        leaves = [leaf for path, leaf in zip(self.places, row, strict=True) if path != _PAD]
        return self._template.render((*leaves, *counted), self._pad(row))

    def _pad(self, row: tuple[JsonValue, ...]) -> int:
        pad = row[self.places.index(_PAD)] if _PAD in self.places else self.first.pad
        if not isinstance(pad, int) or pad < 0:
            raise RunError("`pad` must be a whole number")
        return pad

    def _after(self, row: tuple[JsonValue, ...]) -> Frame:
        payload = self.first.payload
        for path, leaf in zip(self.places, row, strict=True):
            payload = payload if path == _PAD else put(payload, path, leaf)
        for path in self.counters:
            payload = put(payload, path, _count(get(self.first.payload, path), len(self.rows)))
        return replace(self.first, payload=payload, pad=self._pad(row))


@dataclass(frozen=True, slots=True)
class _Template:
    """A frame with holes: the text between its varying leaves."""

    frame: Frame
    pieces: tuple[str, ...]
    order: tuple[int, ...]
    """Which leaf fills each hole, in the order of the text."""
    ends: tuple[bytes, bytes] = field(default=(b"", b""))

    @classmethod
    def of(cls, first: Frame, places: Sequence[Path]) -> _Template | None:
        payload = first.payload
        marks = [f"\x01{index}\x01" for index in range(len(places))]
        for path, mark in zip(places, marks, strict=True):
            payload = put(payload, path, mark)
        text = replace(first, payload=payload, pad=0).text()
        quoted = [scalar(mark) for mark in marks]
        if any(text.count(mark) != 1 for mark in quoted):
            return None
        order = sorted(range(len(marks)), key=lambda index: text.index(quoted[index]))
        pieces: list[str] = []
        for index in order:
            before, text = text.split(quoted[index])
            pieces.append(before)
        whole = first.wrap("\x01")
        head, tail = whole.split("\x01") if whole.count("\x01") == 1 else ("", "")
        ends = ((head + pieces[0]).encode(), (text + tail).encode()) if len(pieces) == 1 else (b"", b"")
        return cls(first, (*pieces, text), tuple(order), ends)

    def render(self, leaves: Sequence[JsonValue], pad: int) -> bytes:
        ascii_only = "ascii" in self.frame.style
        out = self.pieces[0]
        for hole, index in enumerate(self.order, 1):
            leaf = leaves[index]
            if isinstance(leaf, dict | list):
                raise RunError("what a run of frames varies must be text, a number, true, false or null")
            out += scalar(leaf, ascii_only) + self.pieces[hole]
        return self.frame.wrap(out[:-1] + " " * pad + out[-1:]).encode()

    def only_leaf(self, raw: bytes) -> str | None:
        """The text that fills the one hole of this frame, or None when the frame does not fit."""
        before, after = self.ends
        if not (before and raw.startswith(before) and raw.endswith(after) and len(raw) > len(before) + len(after)):
            return None
        middle = raw[len(before) : len(raw) - len(after)]
        try:
            token = json.loads(middle)
        except ValueError:
            return None
        fits = isinstance(token, str) and scalar(token, "ascii" in self.frame.style).encode() == middle
        return token if fits else None


def _differences(old: Frame, new: Frame) -> list[tuple[Path, JsonValue, JsonValue]] | None:
    """The leaves that differ, or None when the two are not of one build, key order included."""
    if (old.event, old.kind, old.style, old.newline) != (new.event, new.kind, new.style, new.newline):
        return None
    found: list[tuple[Path, JsonValue, JsonValue]] = []
    if old.pad != new.pad:
        found.append((_PAD, old.pad, new.pad))
    return found if _collect(old.payload, new.payload, (), found) else None


def _collect(old: JsonValue, new: JsonValue, path: Path, found: list[tuple[Path, JsonValue, JsonValue]]) -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        return list(old) == list(new) and all(_collect(old[key], new[key], (*path, key), found) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(
            _collect(left, right, (*path, index), found)
            for index, (left, right) in enumerate(zip(old, new, strict=True))
        )
    if isinstance(old, dict | list) or isinstance(new, dict | list):
        return False
    if type(old) is not type(new) or scalar(old) != scalar(new):
        found.append((path, old, new))
    return True


def _counts(old: JsonValue, new: JsonValue) -> bool:
    return type(old) is int and type(new) is int and new == old + 1


def _count(value: JsonValue, number: int) -> JsonValue:
    if type(value) is not int:
        raise RunError("`counts` must name whole numbers")
    return value + number


def _leaf(frame: Frame, path: Path) -> JsonValue:
    return frame.pad if path == _PAD else get(frame.payload, path)


def _path(first: Frame, text: JsonValue) -> Path:
    if not isinstance(text, str):
        raise RunError("`at` and `counts` of a run of frames must be JSON pointers")
    if text == "pad":
        return _PAD
    try:
        steps = split(text)
        get(first.payload, steps)
    except (ValueError, LookupError) as error:
        raise RunError(f"a run of frames does not fit the frame before it: {error}") from error
    return steps


def _row(row: JsonValue, width: int, listed: bool) -> tuple[JsonValue, ...]:
    if not listed:
        return (row,)
    if not isinstance(row, list) or len(row) != width:
        raise RunError(f"each row of this run must hold {width} values")
    return tuple(row)
