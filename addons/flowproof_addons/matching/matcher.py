"""Which recording answers a request: the earliest unused one that is equal to it, by digest, never a guess."""

from __future__ import annotations

import datetime as dt
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Literal

from flowproof_addons.dialects.base import Dialect, Registry
from flowproof_addons.matching.canonical import Digester
from flowproof_addons.matching.directories import directories
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.echo import Echo
from flowproof_addons.matching.report import Reporter, denied
from flowproof_addons.matching.rules import Circumstances, Rules
from flowproof_addons.matching.view import Shape, View
from flowproof_addons.session import Pin
from flowproof_addons.trace.model import Exchange, Request
from flowproof_addons.trace.redact import Redactor

PARALLEL = "parallel tool results in another order"
"""The one rule that always holds; named among the rules of a hit when it was needed."""

_REPEATABLE = ("GET", "HEAD")


ECHO = "pinned text known again"
"""Named among the rules of a hit when a pinned text stood outside its pin."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The recording that answers."""

    index: int
    """In `Trace.exchanges`."""
    exchange: Exchange
    """The recording, its reply as it is served: with today's secrets and this run's words for pinned texts."""
    equality: Literal["bytes", "json", "rules"]
    rules: tuple[str, ...] = ()
    """Names of the rules that hid a difference."""


class Matcher:
    """The recordings of one run, each used once. Nothing is shared between matchers.

    `recordings` are as a cassette holds them, hidden; requests are given as the agent sent them.
    """

    def __init__(
        self,
        recordings: Sequence[Exchange],
        pins: Sequence[Pin],
        registry: Registry,
        *,
        clock: Callable[[], dt.datetime],
        own_directory: str = "",
        redactor: Redactor | None = None,
        recorded_at: str = "",
        habitat: str = "",
        recorded_habitat: str = "",
        agent_clock: str = "",
        recorded_directory: str = "",
        aside: int | None = None,
        user_turn: int | None = None,
    ) -> None:
        """`aside`: from this index on, recordings that only `look` finds, when it is asked to."""
        self.user_turn = user_turn
        """In a conversation: where it is now, and only what was recorded there answers. None: no conversation."""
        self._recordings = tuple(recordings)
        self._redactor = redactor or Redactor({}, ())
        self._rules = Rules(
            pins,
            Circumstances(
                today=_Today(clock, _day(agent_clock)),
                recorded_on=_around(recorded_at) | _day(agent_clock),
                directories=directories(own_directory, recorded_directory, habitat, recorded_habitat),
            ),
        )
        self._echo = Echo()
        self._used: set[int] = set()
        self._fired: Counter[str] = Counter({name: 0 for name in self._rules.names})
        self._turn = 0
        self._digester = Digester()
        digester = Digester(lasting=True)
        self._views = tuple(
            View(
                exchange.request,
                exchange.dialect,
                registry.named(exchange.dialect) if exchange.dialect else None,
                self._rules,
                True,
                digester,
                None if user_turn is None or _optional(exchange) else exchange.user_turn,
            )
            for exchange in self._recordings
        )
        self._shelves: dict[Shape, _Shelf] = {}
        self._aside: dict[Shape, _Shelf] = {}
        for index, view in enumerate(self._views):
            shelves = self._shelves if aside is None or index < aside else self._aside
            shelves.setdefault(view.shape, _Shelf()).indexes.append(index)
        self._matched = len(self._recordings) if aside is None else aside
        self._reporter = Reporter(
            self._recordings[: self._matched], self._views[: self._matched], self._rules, self._echo
        )

    def match(self, request: Request, dialect: Dialect | None) -> Hit | Divergence:
        """The recording that answers a request, which is then used up; or why there is none."""
        sent = self._sent(request, dialect)
        self._turn += dialect is not None
        shelf = self._shelves.get(sent.shape)
        index = self._unused(sent, shelf) if shelf else None
        if index is None and shelf and dialect is None and sent.request.method in _REPEATABLE:
            index = self._equal(sent, reversed(shelf.indexes))
        if index is None:
            served = self._equal(sent, shelf.indexes) if shelf else None
            return self._reporter.divergence(sent, dialect, self._turn, self._used, served, self._elsewhere(sent))
        self._used.add(index)
        return self._hit(index, sent)

    def look(self, request: Request, dialect: Dialect | None, *, aside: bool = False) -> Hit | None:
        """What would answer a request, of the recordings set aside or of the others; it is not used up."""
        sent = self._sent(request, dialect)
        shelf = (self._aside if aside else self._shelves).get(sent.shape)
        index = self._unused(sent, shelf) if shelf else None
        return None if index is None else self._hit(index, sent)

    def use(self, index: int) -> None:
        """Use a recording up that `look` has found."""
        self._used.add(index)

    def unserved(self) -> tuple[int, ...]:
        """Recordings that nothing has asked for; side calls that only read are optional and not among them."""
        return tuple(
            index
            for index, exchange in enumerate(self._recordings[: self._matched])
            if index not in self._used and not _optional(exchange)
        )

    def pin_counts(self) -> Mapping[str, int]:
        """How many differences each pin has hidden so far; every pin is there."""
        return {name: self._fired[name] for name in self._rules.names}

    def unused_pins(self) -> tuple[str, ...]:
        """Pins that have found nothing to hold, on either side."""
        return tuple(name for name in self._rules.names if name not in self._rules.found)

    def _sent(self, request: Request, dialect: Dialect | None) -> View:
        name = dialect.name if dialect else None
        anywhere = dialect is None and request.method in _REPEATABLE
        place = None if anywhere else self.user_turn
        return View(self._redactor.hide_request(request), name, dialect, self._rules, False, self._digester, place)

    def _unused(self, sent: View, shelf: _Shelf) -> int | None:
        """The earliest unused recording that is equal."""
        candidates = shelf.exact(sent.key, self._views, self._used)
        exact = next((index for index in candidates if self._allowed(sent, index)), None)
        if exact is not None and exact == shelf.first(self._used):
            return exact
        if not self._echo and not sent.groups:
            return exact
        return next((index for index in shelf.unused(self._used, exact) if self._same(sent, index)), exact)

    def _same(self, sent: View, index: int) -> bool:
        """True when a recording is equal under every rule."""
        return self._views[index].loose_key(self._echo) == sent.loose_key(self._echo) and self._allowed(sent, index)

    def _equal(self, sent: View, indexes: Iterable[int]) -> int | None:
        """A recording that is equal, used or not."""
        return next((index for index in indexes if self._same(sent, index)), None)

    def _elsewhere(self, sent: View) -> int | None:
        """An equal recording of another user turn."""
        if sent.user_turn is None:
            return None
        others = (i for i, view in enumerate(self._views) if view.shape[0] != sent.shape[0])
        return self._equal(sent, (i for i in others if self._views[i].shape[1:] == sent.shape[1:]))

    def _allowed(self, sent: View, index: int) -> bool:
        """True when the pins allow each pair of texts they hold apart: equal marks say only that the shape is one."""
        recorded = self._views[index]
        if not self._rules.conditional or recorded.plain_key == sent.plain_key:
            return True
        return not denied(self._rules, recorded, sent, self._echo)

    def _hit(self, index: int, sent: View) -> Hit:
        recorded, exchange = self._views[index], self._recordings[index]
        equality: Literal["bytes", "json", "rules"] = "rules"
        rules: tuple[str, ...] = ()
        if recorded.plain_key == sent.plain_key:
            digests = exchange.request.digest, sent.request.digest
            equality = "bytes" if digests[0] and digests[0] == digests[1] else "json"
        else:
            rules = self._learn(recorded, sent)
        reply = self._echo.serve(self._redactor.reveal_reply(exchange.reply))
        if reply is exchange.reply:
            self._redactor.trust(reply)
        return Hit(index, replace(exchange, reply=reply), equality, rules)

    def _learn(self, recorded: View, sent: View) -> tuple[str, ...]:
        """Note which rules were needed, and what this run calls the texts that they hold apart."""
        names = [] if recorded.key == sent.key else self._needed(recorded, sent)
        theirs, ours = recorded.spans(self._echo), sent.spans(self._echo)
        for rule, name in enumerate(self._rules.names):
            pairs = zip(
                (span.text for span in theirs if span.rule == rule),
                (span.text for span in ours if span.rule == rule),
                strict=False,
            )
            differing = [pair for pair in pairs if pair[0] != pair[1]]
            if differing or sent.order(rule) != recorded.order(rule):
                self._fired[name] += len(differing) or 1
                names.append(name)
            for text, own in differing:
                self._echo.learn(text, own)
        return tuple(names)

    def _needed(self, recorded: View, sent: View) -> list[str]:
        """The rules beside pins without which the two are not equal."""
        needed = []
        if recorded.ungrouped_key(self._echo) != sent.ungrouped_key(self._echo):
            needed.append(PARALLEL)
        if self._echo and recorded.loose_key(Echo()) != sent.loose_key(Echo()):
            needed.append(ECHO)
        return needed


def _optional(exchange: Exchange) -> bool:
    """Clients cache what only reads: it is asked for again in another place, or not at all."""
    return not exchange.is_turn and exchange.request.method in _REPEATABLE


class _Shelf:
    """The recordings of one shape, in order, found by digest once they are asked for."""

    def __init__(self) -> None:
        self.indexes: list[int] = []
        self._left: deque[int] | None = None
        self._exact: dict[bytes, deque[int]] | None = None

    def exact(self, key: bytes, views: Sequence[View], used: AbstractSet[int]) -> Iterator[int]:
        """The unused recordings with a key, in order. The first question digests the whole shelf."""
        if self._exact is None:
            self._exact = {}
            for index in self.indexes:
                self._exact.setdefault(views[index].key, deque()).append(index)
        queue = self._exact.get(key)
        _front(queue, used)
        return (index for index in queue or () if index not in used)

    def first(self, used: AbstractSet[int]) -> int | None:
        """The earliest unused recording."""
        if self._left is None:
            self._left = deque(self.indexes)
        return _front(self._left, used)

    def unused(self, used: AbstractSet[int], until: int | None) -> Iterator[int]:
        """The unused recordings in order, those before `until`."""
        return (index for index in self.indexes if index not in used and (until is None or index < until))


def _front(queue: deque[int] | None, used: AbstractSet[int]) -> int | None:
    while queue and queue[0] in used:
        queue.popleft()
    return queue[0] if queue else None


class _Today:
    """The days that were today since the run began: a run may pass midnight, and clients go by local time or UTC."""

    def __init__(self, clock: Callable[[], dt.datetime], agents: AbstractSet[dt.date]) -> None:
        self._clock = clock
        self._days = set(agents)
        self()

    def __call__(self) -> AbstractSet[dt.date]:
        now = self._clock()
        self._days |= {now.date(), now.astimezone(dt.UTC).date()}
        return self._days


def _day(agent_clock: str) -> frozenset[dt.date]:
    """The day it is for an agent with a clock of its own; none for the others."""
    return frozenset([dt.datetime.fromisoformat(agent_clock).date()]) if agent_clock else frozenset()


def _around(recorded_at: str) -> frozenset[dt.date]:
    """The days that were today somewhere on earth at a time; none for text that is no time."""
    try:
        day = dt.datetime.fromisoformat(recorded_at).date()
    except ValueError:
        return frozenset()
    return frozenset(day + dt.timedelta(days=days) for days in (-1, 0, 1))
