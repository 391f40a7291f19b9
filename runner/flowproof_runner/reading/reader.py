"""YAML text to a Document.

Reads libyaml's events itself rather than building objects, because what a person wrote must be kept (places, the text
of numbers) and what no spec needs must be refused (tags, duplicate and merge keys, endless aliases, deep nesting).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

import yaml

from flowproof_runner.reading.document import Document, Place
from flowproof_runner.reading.problems import Loc, Problem, SpecError, dotted
from flowproof_runner.reading.scalars import Node, ScalarError, plain

MAX_DEPTH = 40
MAX_NODES = 100_000
MAX_CHARACTERS = 4_000_000

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a PyYAML built without libyaml has no C loader
_CONFLICT = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE)


class _Mark(Protocol):
    index: int
    line: int
    column: int


def read(text: str, file: str) -> Document:
    """Read one YAML document.

    Raises SpecError with every problem found.
    """
    conflict = _CONFLICT.search(text)
    if conflict:
        line = text.count("\n", 0, conflict.start()) + 1
        raise SpecError([Problem(file, line, 1, "", "merge conflict markers; resolve the conflict first")])
    if len(text) > MAX_CHARACTERS:
        raise SpecError([Problem(file, 0, 0, "", f"longer than {MAX_CHARACTERS:,} characters; not read")])
    return _Reader(text.removeprefix("\ufeff"), file).document()


class _Reader:
    """Turns events into a Document."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.problems: list[Problem] = []
        self.anchors: dict[str, tuple[Node, int] | None] = {}
        self.nodes = 0
        self.result = Document(file, "")

    def document(self) -> Document:
        try:
            return self._document(iter(yaml.parse(self.text, Loader=_LOADER)))
        except yaml.YAMLError as error:
            raise SpecError([*self.problems, self._foreign(error)]) from error

    def _document(self, events: Iterator[yaml.Event]) -> Document:
        next(events)  # the stream's start
        first = next(events)
        if isinstance(first, yaml.StreamEndEvent):
            raise SpecError([Problem(self.file, 1, 1, "", "the file is empty")])
        root = self._node(next(events), events, ())
        next(events)  # the document's end
        after = next(events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._complain(after, (), "a second document begins here; one file holds one")
        if self.problems:
            raise SpecError(self.problems)
        return Document(
            self.file, root, self.result.keys, self.result.values, self.result.verbatim, self.result.comments
        )

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], loc: Loc) -> Node:
        self.result.values[loc] = _place(event)
        self._count(event, loc, 1)
        if len(loc) > MAX_DEPTH:
            raise SpecError([*self.problems, self._problem(event, (), f"nested deeper than {MAX_DEPTH} levels")])
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, loc)
        before = self.nodes
        if isinstance(event, yaml.NodeEvent) and event.anchor:
            self.anchors[event.anchor] = None
        node = self._fresh(event, events, loc)
        if isinstance(event, yaml.NodeEvent) and event.anchor:
            self.anchors[event.anchor] = (node, self.nodes - before + 1)
        return node

    def _fresh(self, event: yaml.Event, events: Iterator[yaml.Event], loc: Loc) -> Node:
        if isinstance(event, yaml.CollectionStartEvent | yaml.ScalarEvent) and event.tag is not None:
            self._complain(event, loc, f"YAML tag {event.tag!r} is refused; write a plain value")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, loc)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, loc)
        assert isinstance(event, yaml.MappingStartEvent)
        return self._mapping(events, loc)

    def _sequence(self, events: Iterator[yaml.Event], loc: Loc) -> list[Node]:
        items: list[Node] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events, (*loc, len(items))))
        return items

    def _mapping(self, events: Iterator[yaml.Event], loc: Loc) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event, events, loc, found)
            inner = (*loc, key)
            self.result.keys.setdefault(inner, _place(event))
            found[key] = self._node(next(events), events, inner)
        return found

    def _key(self, event: yaml.Event, events: Iterator[yaml.Event], loc: Loc, found: dict[str, Node]) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            self._complain(event, loc, "a key must be text")
            self._node(event, events, (*loc, "?"))
            return "?"
        if event.tag is not None:
            self._complain(event, loc, f"YAML tag {event.tag!r} is refused; write a plain key")
        if event.value == "<<" and not event.style:
            self._complain(event, loc, "merge keys ('<<') are not part of YAML 1.2; write the keys out")
        elif event.value in found:
            first = self.result.keys[(*loc, event.value)].line
            self._complain(event, (*loc, event.value), f"duplicate key; it already stands in line {first}")
        return event.value

    def _scalar(self, event: yaml.ScalarEvent, loc: Loc) -> Node:
        start, end = _mark(event.start_mark), _mark(event.end_mark)
        raw = self.text[start.index : end.index]
        if raw == event.value:
            self.result.verbatim[loc] = Place(start.line + 1, start.column + 1)
        elif raw[1:-1] == event.value and event.style in ("'", '"'):
            self.result.verbatim[loc] = Place(start.line + 1, start.column + 2)
        if event.style:
            return event.value
        cut = re.match(r"[ \t]+(#[^\s#][^\r\n]*)", self.text[end.index :])
        if cut:
            self.result.comments[loc] = cut.group(1)
        try:
            return plain(event.value)
        except ScalarError as error:
            self._complain(event, loc, str(error))
            return event.value

    def _alias(self, event: yaml.AliasEvent, loc: Loc) -> Node:
        if event.anchor not in self.anchors:
            self._complain(event, loc, f"alias *{event.anchor} has no anchor before it")
            return ""
        known = self.anchors[event.anchor]
        if known is None:
            raise SpecError([*self.problems, self._problem(event, loc, f"alias *{event.anchor} contains itself")])
        node, size = known
        self._count(event, loc, size)
        return node

    def _count(self, event: yaml.Event, loc: Loc, size: int) -> None:
        self.nodes += size
        if self.nodes > MAX_NODES:
            message = f"more than {MAX_NODES:,} values, aliases expanded; not read further"
            raise SpecError([*self.problems, self._problem(event, loc, message)])

    def _complain(self, event: yaml.Event, loc: Loc, message: str) -> None:
        self.problems.append(self._problem(event, loc, message))

    def _problem(self, event: yaml.Event, loc: Loc, message: str) -> Problem:
        place = _place(event)
        return Problem(self.file, place.line, place.column, dotted(loc), message)

    def _foreign(self, error: yaml.YAMLError) -> Problem:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        if mark is not None:
            return Problem(
                self.file, mark.line + 1, mark.column + 1, "", _explained(error, self.text[mark.index : mark.index + 1])
            )
        offset = getattr(error, "position", None)
        line = self.text.count("\n", 0, offset) + 1 if isinstance(offset, int) else 1
        return Problem(self.file, line, 1, "", f"not YAML: {error}")


def _place(event: yaml.Event) -> Place:
    mark = _mark(event.start_mark)
    return Place(mark.line + 1, mark.column + 1)


def _mark(mark: _Mark | None) -> _Mark:
    """Every event of text that was read has its marks; only events made by hand have none."""
    assert mark is not None
    return mark


def _explained(error: yaml.YAMLError, character: str) -> str:
    """A YAML error with a hint where the usual cause is known."""
    said = str(getattr(error, "problem", None) or error)
    if "mapping values are not allowed" in said:
        return f"not YAML: {said}; a text that holds ': ' must be in quotes"
    if character == "\t":
        return f"not YAML: {said}; indent with blanks, not tabs"
    if "did not find expected ',' or" in said:
        return f"not YAML: {said}; inside {{ }} and [ ] a text that holds any of [ ] {{ }} , must be in quotes"
    context = getattr(error, "context", None)
    return f"not YAML: {said} {context}" if context else f"not YAML: {said}"
