"""One request as matching sees it: marked, put in order, digested, each only when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from flowproof_addons.dialects.base import Dialect
from flowproof_addons.matching.canonical import Digester, arranged, compared
from flowproof_addons.matching.echo import Echo
from flowproof_addons.matching.rules import Rules, Span
from flowproof_addons.trace.model import Body, JsonBody, JsonValue, Request
from flowproof_addons.trace.pointer import Path, get

type Shape = tuple[object, ...]


class View:
    """A request with everything that is made of it. Its request is already hidden (`Redactor.hide_request`)."""

    def __init__(
        self,
        request: Request,
        dialect: str | None,
        reader: Dialect | None,
        rules: Rules,
        lasting: bool,
        digester: Digester,
        user_turn: int | None = None,
    ) -> None:
        self.request = request
        self.dialect = dialect
        self._reader = reader
        self._rules = rules
        self._lasting = lasting
        self.digester = digester
        self.user_turn = user_turn
        """The part of a conversation it counts in; None: all of the run."""
        self._loose: tuple[Echo, int, bytes] | None = None

    @cached_property
    def body(self) -> Body:
        """What is compared of the body."""
        return compared(self.request.body, self.dialect is not None)

    @cached_property
    def marked(self) -> Body:
        """The compared body with the pins' marks, and with the lists that count as sets in order."""
        if not isinstance(self.body, JsonBody) or not self._rules:
            return self.body
        value = self._rules.marked(self.body.value, self._lasting)
        return JsonBody(arranged(value, value, self._sets(value)))

    @cached_property
    def groups(self) -> tuple[tuple[Path, ...], ...]:
        """Places of results that answer calls made in parallel, as the dialect reads them."""
        if self._reader is None or not isinstance(self.body, JsonBody):
            return ()
        return tuple(group for group in self._reader.read_request(self.request).parallel if len(group) > 1)

    @cached_property
    def shape(self) -> Shape:
        """What is cheap to tell of a request; requests that are equal have equal shapes."""
        head = (self.user_turn, self.dialect, self.request.method, self.request.path, self.request.query)
        if not isinstance(self.body, JsonBody):
            return (*head, self.digester.body(self.body))
        value = self.body.value
        if not isinstance(value, dict):
            return (*head, type(value).__name__)
        return (*head, *((name, self._length(name, value[name])) for name in sorted(value)))

    @cached_property
    def plain_key(self) -> bytes:
        """The digest without any rule."""
        return self.digester.request(self.request, self.dialect, self.body)

    @cached_property
    def key(self) -> bytes:
        """The digest under the pins."""
        return self.digester.request(self.request, self.dialect, self.marked) if self._rules else self.plain_key

    def loose_key(self, echo: Echo) -> bytes:
        """The digest under the pins, what is echoed of them, and with parallel results in any order."""
        if self._loose is None or self._loose[:2] != (echo, echo.version):
            self._loose = (echo, echo.version, self._digest(self.levelled(echo), echo))
        return self._loose[2]

    def ungrouped_key(self, echo: Echo) -> bytes:
        """The same, with parallel results in the order in which they came."""
        return self._digest(self._known_again(echo), echo)

    def levelled(self, echo: Echo) -> Body:
        """The body of `loose_key`."""
        body = self._known_again(echo)
        return JsonBody(arranged(body.value, body.value, self.groups)) if isinstance(body, JsonBody) else body

    def shown(self, echo: Echo, denied: AbstractSet[str]) -> Body:
        """The same for a reader who wants to know where two requests part: with the texts that no pin allows."""
        if not denied or not isinstance(self.body, JsonBody):
            return self.levelled(echo)
        value = self._rules.marked(self.body.value, without=denied)
        for groups in (self._sets(value), self.groups):
            value = arranged(echo.levelled(value), echo.levelled(value), groups)
        return JsonBody(value)

    def order(self, rule: int) -> list[bytes]:
        """The items of the lists that pin `rule` takes as sets, in the order in which they came."""
        if not isinstance(self.body, JsonBody):
            return []
        value = self._rules.marked(self.body.value, self._lasting)
        return [
            self.digester.value(get(value, place))
            for index, places in self._rules.sets(value)
            if index == rule
            for place in places
        ]

    def spans(self, echo: Echo) -> list[Span]:
        """What stood under the marks, in an order that does not depend on how sets and parallel results came."""
        if not isinstance(self.body, JsonBody):
            return []
        value, marked = self.body.value, self._rules.marked(self.body.value, self._lasting)
        for groups in (self._sets(marked), self.groups):
            value, marked = (
                arranged(value, echo.levelled(marked), groups),
                arranged(marked, echo.levelled(marked), groups),
            )
        return self._rules.spans(value)

    def _known_again(self, echo: Echo) -> Body:
        return JsonBody(echo.levelled(self.marked.value)) if isinstance(self.marked, JsonBody) else self.marked

    def _digest(self, body: Body, echo: Echo) -> bytes:
        """What an echo makes is not there to stay: it must not be remembered by identity."""
        digester = Digester() if echo else self.digester
        return digester.request(self.request, self.dialect, body)

    def _sets(self, value: JsonValue) -> Sequence[tuple[Path, ...]]:
        return [group for _, group in self._rules.sets(value)]

    def _length(self, name: str, value: JsonValue) -> int | None:
        return len(value) if isinstance(value, list) and not self._rules.may_replace(name) else None
