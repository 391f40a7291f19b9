"""A run of frames that differ from the frame before them in a few leaves only: `{"at": ..., "each": [...]}`.

Where a leaf's texts are pieces of the reply that was streamed, they stand under `cuts` in place of `at` and `each`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from flowproof_addons.trace.cuts import CutError, Source
from flowproof_addons.trace.frame import Frame
from flowproof_addons.trace.json_value import same, scalar
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import Path, get, pointer, put, split
from flowproof_addons.trace.template import Template, TemplateError

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
        self.places = tuple(places)
        self.counters = tuple(counters)
        self.rows: list[tuple[JsonValue, ...]] = []
        self._template = Template.of(first, [path for path in (*places, *counters) if path != _PAD])

    @classmethod
    def begin(cls, last: Frame, current: Frame) -> Run | None:
        """A run that holds `current`, or None when it differs from `last` in more than a run can hold."""
        found = _differences(last, current)
        if not found or len(found) > _MOST_COLUMNS:
            return None
        counters = [path for path, old, new in found if path != _PAD and _counts(old, new)]
        run = cls(last, [path for path, _, _ in found if path not in counters], counters)
        return run if run.take(current.render()) else None

    def take(self, raw: bytes) -> bool:
        """Add a frame, if it fits."""
        read = self._template.read(raw) if self._template is not None else None
        if read is None:
            return False
        leaves, pad = read
        varying = [path for path in self.places if path != _PAD]
        told: dict[Path, JsonValue] = {**dict(zip(varying, leaves, strict=False)), _PAD: pad}
        row = tuple(told[path] for path in self.places)
        counted = [_count(get(self.first.payload, path), len(self.rows) + 1) for path in self.counters]
        if not same(leaves[len(varying) :], counted) or self._pad(row) != pad:
            return False
        self.rows.append(row)
        return True

    @property
    def last(self) -> Frame:
        """The last frame of the run."""
        return self._after(self.rows[-1]) if self.rows else self.first

    def stored(self, reply: Source) -> dict[str, JsonValue]:
        """The run as it stands in a file, beside the reply that it streamed."""
        names = ["pad" if path == _PAD else pointer(path) for path in self.places]
        columns = dict(zip(names, zip(*self.rows, strict=True), strict=True))
        cuts = {name: cut for name, column in columns.items() if (cut := reply.cut(name, column)) is not None}
        listed = [index for index, name in enumerate(names) if name not in cuts]
        item: dict[str, JsonValue] = {}
        if len(listed) == 1:
            item = {"at": names[listed[0]], "each": [row[listed[0]] for row in self.rows]}
        elif listed or not cuts:
            item = {"at": [names[i] for i in listed], "each": [[row[i] for i in listed] for row in self.rows]}
        if cuts:
            item["cuts"] = list(cuts.values())
        return {**item, "counts": [pointer(path) for path in self.counters]} if self.counters else item

    @classmethod
    def read(cls, first: Frame, item: dict[str, JsonValue], reply: Source) -> Run:
        """The run that `item` stores beside its reply. Raises RunError."""
        at, each, counts, cuts = (item.get(name, []) for name in ("at", "each", "counts", "cuts"))
        if not isinstance(each, list) or not isinstance(counts, list) or not isinstance(cuts, list):
            raise RunError("a run of frames needs the lists `each` or `cuts` and, where it counts, `counts`")
        try:
            columns = [reply.pieces(cut) for cut in cuts]
        except CutError as error:
            raise RunError(str(error)) from error
        places = [_path(first, text) for text in (at if isinstance(at, list) else [at])]
        rows = [_row(row, len(places), isinstance(at, list)) for row in each] if "each" in item else None
        lengths = {len(texts) for _, texts in columns} | ({len(rows)} if rows is not None else set())
        if len(lengths) != 1:
            raise RunError("`each` and `cuts` of a run of frames must tell of as many frames")
        run = cls(first, [*places, *(_path(first, name) for name, _ in columns)], [_path(first, c) for c in counts])
        cut = zip(*(texts for _, texts in columns), strict=True) if columns else [()] * lengths.pop()
        run.rows = [(*row, *texts) for row, texts in zip(rows, cut, strict=True)] if rows is not None else list(cut)
        return run

    def frames(self) -> Iterator[bytes]:
        """The bytes of the run's frames. Raises RunError."""
        if self._template is None:
            raise RunError("a run of frames names one leaf twice")
        for number, row in enumerate(self.rows, 1):
            counted = tuple(_count(get(self.first.payload, path), number) for path in self.counters)
            leaves = [leaf for path, leaf in zip(self.places, row, strict=True) if path != _PAD]
            try:
                yield self._template.render((*leaves, *counted), self._pad(row))
            except TemplateError as error:
                raise RunError(str(error)) from error

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
