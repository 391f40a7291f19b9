"""Pins at work: the spans of a request that may differ are replaced by marks, on both sides alike.

Two requests that are the same once marked are equal under the pins, if the pins allow each pair of texts that the
marks stand for (`allows`). These are read apart (`spans`), so that every difference a pin hides is counted, and a
pinned text is known again where it is echoed.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial

from flowproof_addons.errors import FlowproofError
from flowproof_addons.matching import dates, paths
from flowproof_addons.matching.directories import Directories
from flowproof_addons.session import Pin
from flowproof_addons.trace.json_value import compact
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import Path as Place

_MARK = "\uf8ff"
"""A private-use character, which no text of people or models holds."""

MARKED = re.compile(f"{_MARK}<([^{_MARK}]*?)>[^{_MARK}>]*{_MARK}")
"""A mark in a marked text; group 1 is the name."""


class PinError(FlowproofError):
    """A pin that cannot be used; names it and says what to write."""


@dataclass(frozen=True, slots=True)
class Span:
    """What stood under a mark."""

    rule: int
    place: Place
    text: str
    """The text; for a whole value that is no text, its JSON."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What `date` and `path` pins go by."""

    today: Callable[[], AbstractSet[dt.date]] = frozenset
    """The days that are today where the agent may look, local and UTC."""
    recorded_on: frozenset[dt.date] = frozenset()
    """The days around the recording; empty when unknown."""
    directories: Directories = field(default_factory=Directories)
    """The run's own."""


class Rules:
    """The pins of one flow, compiled. Raises PinError when one cannot be used."""

    def __init__(self, pins: Sequence[Pin], circumstances: Circumstances | None = None) -> None:
        self.names = tuple(_name(pin) for pin in pins)
        self._rules = tuple(_Rule.of(index, pin, circumstances or Circumstances()) for index, pin in enumerate(pins))
        self._spans = tuple(rule for rule in self._rules if rule.pin.kind != "unordered")
        self._lists = tuple(rule for rule in self._rules if rule.pin.kind == "unordered")
        self._memos = {rule.index: paths.Memo() for rule in self._spans}
        self.found: set[str] = set()
        """Names of the pins that have held something so far, on either side."""

    def __bool__(self) -> bool:
        return bool(self._rules)

    def marked(self, value: JsonValue, lasting: bool = False, without: AbstractSet[str] = frozenset()) -> JsonValue:
        """The value with a mark in the place of every pinned span. Shares what no pin touches.

        `lasting` values live as long as this object: what their lists share is marked once. `without` names texts
        that keep their place.
        """
        for rule in self._spans:
            memo = self._memos[rule.index] if lasting and not without else None
            marked = rule.apply(value, memo, without)
            if marked is not value:
                self.found.add(self.names[rule.index])
            value = marked
        return value

    def spans(self, value: JsonValue) -> list[Span]:
        """What the marks of `marked` stand for, pin by pin, in document order."""
        found: list[Span] = []
        for rule in self._spans:
            for place, target in rule.path.find(value):
                found += (Span(rule.index, (*place, *below), text) for below, text in rule.texts(target))
            value = rule.apply(value, None, frozenset())  # a later pin does not see what an earlier one has marked
        return found

    @property
    def conditional(self) -> bool:
        """True when some pin allows some texts only, so that equal marks do not say it all."""
        return any(rule.pin.kind != "text" for rule in self._spans)

    def allows(self, recorded: Span, sent: Span) -> bool:
        """True when a pin lets the one text stand for the other."""
        return recorded.text == sent.text or self._rules[recorded.rule].allows(recorded.text, sent.text)

    def sets(self, value: JsonValue) -> Iterator[tuple[int, tuple[Place, ...]]]:
        """Each list that counts as a set: the pin's index and the places of its items."""
        for rule in self._lists:
            for place, found in rule.path.find(value):
                if isinstance(found, list):
                    self.found.add(self.names[rule.index])
                    yield rule.index, tuple((*place, index) for index in range(len(found)))

    def may_replace(self, key: str) -> bool:
        """True when some pin lets the whole member `key` of a body differ, its length too."""
        return any(not rule.pin.match and rule.path.matches((key,)) for rule in self._spans)


def mark(name: str, form: str = "") -> str:
    """What stands in the place of a pinned text: the same on both sides, and no other for another name or form."""
    return f"{_MARK}<{name}>{form}{_MARK}"


def unmarked(text: str) -> str:
    """A marked text as it is shown to people: `Today is <date>`."""
    return MARKED.sub(r"<\1>", text).replace(_MARK, "")


@dataclass(frozen=True, slots=True)
class _Rule:
    index: int
    pin: Pin
    path: paths.Path
    looks: re.Pattern[str] | None
    """What is looked for in texts; None: the whole value may differ."""
    whole: bool
    """The whole match may differ, its groups are ours."""
    circumstances: Circumstances

    @classmethod
    def of(cls, index: int, pin: Pin, known: Circumstances) -> _Rule:
        try:
            path, pattern = paths.parse(pin.at), re.compile(pin.match) if pin.match else None
        except paths.PathError as error:
            raise PinError(f"pin {_name(pin)!r}: at: {error}") from error
        except re.error as error:
            raise PinError(f"pin {_name(pin)!r}: match: {pin.match!r} is no regular expression: {error}") from error
        if not pin.at and not pin.match and pin.kind in ("text", "unordered"):
            raise PinError(f"pin {_name(pin)!r} pins everything; say where with `at`, or what with `match`")
        if pin.kind == "unordered" and pin.match:
            raise PinError(f"pin {_name(pin)!r}: a list compared as a set takes no `match`; leave it out")
        if pattern is not None:
            return cls(index, pin, path, pattern, pattern.groups == 0, known)
        return cls(index, pin, path, _looks(pin, known), True, known)

    def allows(self, recorded: str, sent: str) -> bool:
        """True when `sent` may stand where `recorded` stood."""
        known = self.circumstances
        match self.pin.kind:
            case "date":
                on_the_day = (
                    bool(self.pin.match) or not known.recorded_on or bool(dates.readings(recorded) & known.recorded_on)
                )
                return on_the_day and bool(dates.readings(sent) & known.today())
            case "path":
                return known.directories.maps(recorded, sent, anything=bool(self.pin.match))
            case _:
                return True

    def apply(self, value: JsonValue, memo: paths.Memo | None, without: AbstractSet[str]) -> JsonValue:
        """The body with this pin's spans marked."""
        mark = partial(self._mark, without=without)
        if self.path.steps or not isinstance(value, dict):
            return paths.rewrite(value, self.path.steps, mark, memo)
        # Anywhere in the body: member by member, so that the items of its lists are marked once for all who share them.
        value = paths.rewrite(value, (paths.Wild.ANY,), lambda child: child if isinstance(child, list) else mark(child))
        return paths.rewrite(value, (paths.Wild.ANY, paths.Wild.ITEM), mark, memo)

    def texts(self, value: JsonValue) -> Iterator[tuple[Place, str]]:
        """The texts that marks replace."""
        if self.looks is None:
            yield (), _text(value)
        elif isinstance(value, str):
            yield from (((), value[start:end]) for start, end in self._found(value, frozenset()))
        elif isinstance(value, dict | list):
            for key, child in value.items() if isinstance(value, dict) else enumerate(value):
                yield from (((key, *below), text) for below, text in self.texts(child))

    def _mark(self, value: JsonValue, without: AbstractSet[str]) -> JsonValue:
        if self.looks is None:
            text = _text(value)
            return value if text in without else self._token(text)
        if isinstance(value, str):
            for start, end in reversed(self._found(value, without)):
                value = value[:start] + self._token(value[start:end]) + value[end:]
            return value
        return paths.rewrite(value, (paths.Wild.ANY,), partial(self._mark, without=without))

    def _found(self, text: str, without: AbstractSet[str]) -> list[tuple[int, int]]:
        assert self.looks is not None
        spans: list[tuple[int, int]] = []
        for found in self.looks.finditer(text):
            for group in (0,) if self.whole else range(1, self.looks.groups + 1):
                start, end = found.span(group)
                if start < end and start >= (spans[-1][1] if spans else 0) and text[start:end] not in without:
                    spans.append((start, end))
        return spans

    def _token(self, text: str) -> str:
        """The mark: the same for every text that may stand here. A date may only stand for one in its own form."""
        return mark(_name(self.pin), dates.form(text) if self.pin.kind == "date" else "")


def _looks(pin: Pin, known: Circumstances) -> re.Pattern[str] | None:
    """What a pin without `match` looks for: dates, or the directory of either run. None: the whole value."""
    if pin.kind == "date":
        return dates.DATE
    if pin.kind == "path" and (known.directories.recorded or not pin.at):
        return known.directories.pattern()
    return None


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else compact(value)


def _name(pin: Pin) -> str:
    return pin.name or f"{pin.at or 'anywhere'}: {pin.match or pin.kind}"
