"""Secrets out of what is written, and into what is served again.

A secret's value is written as `${NAME}`, in another spelling as `${NAME:base64-0}`; text that is a key by its looks
as `${REDACTED:openai}`; the value of a redacted member as `${REDACTED:its name}`. At record the agent never sees any
of it; at replay it sees today's values. A text that held `${NAME}` of its own is written with its dollars doubled.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import overload

from flowproof_addons.trace import credentials, rewriting
from flowproof_addons.trace.model import Attempt, Exchange, JsonValue, Reply, Request
from flowproof_addons.trace.rewriting import redacted
from flowproof_addons.trace.spelling import SPELLINGS, spellings
from flowproof_addons.trace.stitch import Edit

SHORTEST = 6
"""Shorter values are not hidden: `test` or `x` would be found in half of all words. See `Redactor.too_short`."""

_MOST_TRUSTED = 16
"""As many replies may be on their way to the agent at once; another one is merely searched."""

_MOST_CLEAN = 32 * 1024 * 1024


class Redactor:
    """Hides the secrets of one session: `hide` what is written, `reveal` what is served.

    `secrets` maps names to values; `keys` names members of bodies, query parameters and headers whose values are
    never written.
    """

    def __init__(self, secrets: Mapping[str, str], keys: Sequence[str] = ()) -> None:
        self._values = {name: value for name, value in secrets.items() if len(value) >= SHORTEST}
        self.too_short = tuple(name for name, value in secrets.items() if 0 < len(value) < SHORTEST)
        """Secrets that are not hidden because they are too short to be told from other text."""
        self.hits: set[str] = set()
        """Names of the secrets that were found and hidden so far."""
        self._keys = frozenset(key.lower() for key in keys)
        self._placeholders = _placeholders(self._values)
        self._named = _hiding(self._values, self._placeholders)
        self._revealed = re.compile(rf"(\$+)\{{({_any(self._values)})(?::([a-z0-9-]+))?\}}") if self._values else None
        self._members = _members(self._keys)
        self._shortest = min([credentials.SHORTEST_SHAPE, *map(len, (*self._placeholders, *self._values, *self._keys))])
        self._trusted: deque[Reply] = deque(maxlen=_MOST_TRUSTED)
        self._clean: set[str] = set()
        self._clean_size = 0

    @overload
    def hide(self, value: str) -> str: ...
    @overload
    def hide(self, value: bytes) -> bytes: ...
    @overload
    def hide(self, value: JsonValue) -> JsonValue: ...
    def hide(self, value: JsonValue | bytes) -> JsonValue | bytes:
        """The value as it may be written; the very same object when it holds nothing to hide."""
        if isinstance(value, bytes):
            return rewriting.data(value, self._hiding)
        return rewriting.value(value, self._hiding, self._keys)

    @overload
    def reveal(self, value: str) -> str: ...
    @overload
    def reveal(self, value: bytes) -> bytes: ...
    @overload
    def reveal(self, value: JsonValue) -> JsonValue: ...
    def reveal(self, value: JsonValue | bytes) -> JsonValue | bytes:
        """The value as it is served: the placeholders of known secrets replaced by their values of today."""
        if isinstance(value, bytes):
            return rewriting.data(value, self._revealing)
        return rewriting.value(value, self._revealing)

    def hide_exchange(self, exchange: Exchange) -> Exchange:
        """The exchange as it may be written."""
        return replace(
            exchange,
            request=self.hide_request(exchange.request),
            reply=self.hide_reply(exchange.reply),
            attempts=tuple(
                Attempt(
                    attempt.status,
                    self._headers(attempt.headers),
                    rewriting.body(attempt.body, self._hiding, self._keys),
                )
                for attempt in exchange.attempts
            ),
            divergence=self.hide(exchange.divergence),
        )

    def hide_request(self, request: Request) -> Request:
        """The request as it may be written, and as matching compares it."""
        return replace(
            request,
            path=self.hide(request.path),
            query=self._query(request.query),
            headers=self._headers(request.headers),
            body=rewriting.body(request.body, self._hiding, self._keys),
        )

    def hide_reply(self, reply: Reply) -> Reply:
        """The reply as it may be written, its frames too, even where a secret arrived in pieces."""
        if any(reply is known for known in self._trusted):
            return reply
        return replace(rewriting.reply(reply, self._hiding, self._keys), headers=self._headers(reply.headers))

    def trust(self, reply: Reply) -> None:
        """Take note of a reply that comes from a cassette, hidden: it is not searched again when it is written."""
        self._trusted.append(reply)

    def reveal_reply(self, reply: Reply) -> Reply:
        """The reply as it is served; the very same when it holds no placeholder of a secret."""
        return reply if self._revealed is None else rewriting.reply(reply, self._revealing)

    def _headers(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        return {
            name: redacted(name) if name in self._keys or credentials.is_header(name) else self.hide(value)
            for name, value in headers.items()
        }

    def _query(self, query: str) -> str:
        if not query:
            return query
        hidden = credentials.QUERY_NAMES | self._keys
        pairs = [pair.partition("=") for pair in query.split("&")]
        return "&".join(
            name + equals + (redacted(name) if value and name.lower() in hidden else self.hide(value))
            for name, equals, value in pairs
        )

    def _hiding(self, text: str) -> list[Edit]:
        if len(text) < self._shortest or text in self._clean:
            return []
        edits = [*self._secrets(text), *self._member_values(text)]
        if credentials.may_hold_key(text):
            edits += [Edit(start, end, redacted(kind)) for kind, start, end in credentials.key_shapes(text)]
        if not edits:
            self._remember(text)
        return _apart(edits)

    def _secrets(self, text: str) -> list[Edit]:
        edits: list[Edit] = []
        done = 0
        for found in self._named.finditer(text) if self._named else ():
            before = text[done : found.start()]
            dollars = len(before) - len(before.rstrip("$"))
            name, placeholder = self._placeholders.get(found[0], ("", found[0]))
            if name or dollars:
                edits.append(Edit(found.start(), found.end(), "$" * dollars + placeholder))
            if name:
                self.hits.add(name)
            done = found.end()
        return edits

    def _member_values(self, text: str) -> list[Edit]:
        """Redacted members of JSON that stands inside a text, such as the arguments of a tool call."""
        if self._members is None or "{" not in text:
            return []
        return [
            Edit(*found.span("value"), f'{found["open"]}"{redacted(found["key"])}{found["open"]}"')
            for found in self._members.finditer(text)
        ]

    def _revealing(self, text: str) -> list[Edit]:
        if self._revealed is None or "${" not in text:
            return []
        edits: list[Edit] = []
        for found in self._revealed.finditer(text):
            dollars = "$" * (len(found[1]) // 2)
            spell = SPELLINGS.get(found[3] or "")
            if len(found[1]) % 2 and spell is not None:
                edits.append(Edit(*found.span(), dollars + spell(self._values[found[2]])))
            elif len(found[1]) % 2 == 0:
                edits.append(Edit(*found.span(1), dollars))
        return edits

    def _remember(self, text: str) -> None:
        """A conversation is sent again with every turn: what was clean once need not be searched again."""
        self._clean_size += len(text)
        if self._clean_size > _MOST_CLEAN:
            self._clean, self._clean_size = set(), len(text)
        self._clean.add(text)


def _placeholders(secrets: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Each text that spells a secret -> the secret's name and what is written instead."""
    found: dict[str, tuple[str, str]] = {}
    for name, value in secrets.items():
        for text, spelling in spellings(value).items():
            found.setdefault(text, (name, "${" + name + (":" + spelling if spelling else "") + "}"))
    return found


def _any(texts: Mapping[str, object]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def _hiding(secrets: Mapping[str, str], placeholders: Mapping[str, object]) -> re.Pattern[str] | None:
    """Finds every spelling of every secret, the longest first, and what would read as a placeholder."""
    if not secrets:
        return None
    return re.compile(rf"{_any(placeholders)}|\{{(?:{_any(secrets)})(?::[a-z0-9-]+)?\}}")


def _members(keys: frozenset[str]) -> re.Pattern[str] | None:
    """Finds redacted members in JSON text, however often its quotes are escaped."""
    if not keys:
        return None
    names = "|".join(map(re.escape, sorted(keys)))
    value = r'(?P=open)".*?(?<!\\)(?P=open)"|[-0-9a-zA-Z.+]+'
    return re.compile(rf'(?P<open>\\*)"(?P<key>{names})(?P=open)"\s*:\s*(?P<value>{value})', re.IGNORECASE | re.DOTALL)


def _apart(edits: list[Edit]) -> list[Edit]:
    """The edits in order; of two that overlap, the one that begins first."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept
