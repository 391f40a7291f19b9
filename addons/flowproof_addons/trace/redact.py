"""Secrets out of what is written, and into what is served again.

A secret's value is written as `${NAME}`, in another spelling as `${NAME:base64-0}`; text that is a key by its looks
as `${REDACTED:openai}`; the value of a redacted member as `${REDACTED:its name}`. The agent never sees any of it at
record; at replay it sees today's values. A text that held `${NAME}` of its own is written with its dollars doubled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import overload

from flowproof_addons.trace import credentials, layout, stitch
from flowproof_addons.trace.model import (
    Attempt,
    Body,
    BytesBody,
    Exchange,
    JsonBody,
    JsonValue,
    MultipartBody,
    Part,
    Reply,
    Request,
)
from flowproof_addons.trace.spelling import SPELLINGS, spellings
from flowproof_addons.trace.stitch import Edit, Edits

SHORTEST = 6
"""Shorter values are not hidden: `test` or `x` would be found in half of all words. See `Redactor.too_short`."""

_MOST_CLEAN = 32 * 1024 * 1024


class Redactor:
    """Hides the secrets of one session. `hide` what is written, `reveal` what is served.

    `secrets` maps names to values, `keys` names members of bodies, query parameters and headers whose values are
    never written.
    """

    def __init__(self, secrets: Mapping[str, str], keys: Sequence[str] = ()) -> None:
        usable = {name: value for name, value in secrets.items() if len(value) >= SHORTEST}
        self.too_short = tuple(name for name, value in secrets.items() if 0 < len(value) < SHORTEST)
        self.hits: set[str] = set()
        """Names of the secrets that were found and hidden so far."""
        self._values = usable
        self._keys = frozenset(key.lower() for key in keys)
        self._placeholder: dict[str, tuple[str, str]] = {}
        for name, value in usable.items():
            for text, spelling in spellings(value).items():
                self._placeholder.setdefault(text, (name, "${" + name + (":" + spelling if spelling else "") + "}"))
        self._hide = _hiding(usable, self._placeholder)
        self._reveal = re.compile(rf"(\$+)\{{({_any(usable)})(?::([a-z0-9-]+))?\}}") if usable else None
        self._members = _members(self._keys)
        self._shortest = min([credentials.SHORTEST_SHAPE, *map(len, self._placeholder), *(len(key) for key in keys)])
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
        return _mapped(value, self._hiding_edits, self._keys)

    @overload
    def reveal(self, value: str) -> str: ...
    @overload
    def reveal(self, value: bytes) -> bytes: ...
    @overload
    def reveal(self, value: JsonValue) -> JsonValue: ...
    def reveal(self, value: JsonValue | bytes) -> JsonValue | bytes:
        """The value as it is served: placeholders of known secrets replaced by their values of today."""
        return value if self._reveal is None else _mapped(value, self._revealing_edits, frozenset())

    def hide_exchange(self, exchange: Exchange) -> Exchange:
        """The exchange as it may be written."""
        return replace(
            exchange,
            request=self.hide_request(exchange.request),
            reply=self.hide_reply(exchange.reply),
            attempts=tuple(
                Attempt(attempt.status, self._headers(attempt.headers), self._body(attempt.body))
                for attempt in exchange.attempts
            ),
            divergence=self.hide(exchange.divergence),
        )

    def hide_request(self, request: Request) -> Request:
        """The request as it may be written, and as matching compares it."""
        query = self._query(request.query)
        return replace(
            request,
            path=self.hide(request.path),
            query=query,
            headers=self._headers(request.headers),
            body=self._body(request.body),
        )

    def hide_reply(self, reply: Reply) -> Reply:
        """The reply as it may be written, its frames too, even where a secret arrived in pieces."""
        return self._reply(reply, self._hiding_edits, self._keys)

    def reveal_reply(self, reply: Reply) -> Reply:
        """The reply as it is served."""
        return reply if self._reveal is None else self._reply(reply, self._revealing_edits, frozenset())

    def _reply(self, reply: Reply, edits: Edits, keys: frozenset[str]) -> Reply:
        return replace(
            reply,
            body=_body(reply.body, edits, keys),
            headers={name: _mapped(value, edits, keys) for name, value in reply.headers.items()},
            frames=None if reply.frames is None else stitch.rewrite(reply.frames, edits),
        )

    def _body(self, body: Body) -> Body:
        return _body(body, self._hiding_edits, self._keys)

    def _headers(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        return {
            name: "${REDACTED:" + name + "}" if name in self._keys or credentials.is_header(name) else self.hide(value)
            for name, value in headers.items()
        }

    def _query(self, query: str) -> str:
        if not query:
            return query
        pairs = [pair.partition("=") for pair in query.split("&")]
        hidden = credentials.QUERY_NAMES | self._keys
        return self.hide(
            "&".join(
                name + equals + ("${REDACTED:" + name + "}" if name.lower() in hidden and value else value)
                for name, equals, value in pairs
            )
        )

    def _hiding_edits(self, text: str) -> list[Edit]:
        if len(text) < self._shortest or text in self._clean:
            return []
        edits = [*self._named(text), *self._member_values(text)]
        if credentials.may_hold_key(text):
            edits += [Edit(start, end, "${REDACTED:" + kind + "}") for kind, start, end in credentials.key_shapes(text)]
        if not edits:
            self._remember(text)
        return _apart(edits)

    def _named(self, text: str) -> list[Edit]:
        edits: list[Edit] = []
        done = 0
        for found in self._hide.finditer(text) if self._hide else ():
            dollars = found.start() - len(text[done : found.start()].rstrip("$")) - done
            name, placeholder = self._placeholder.get(found[0], ("", found[0]))
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
            Edit(*found.span(2), found["quote"] + "${REDACTED:" + found["key"] + "}" + found["quote"])
            for found in self._members.finditer(text)
        ]

    def _revealing_edits(self, text: str) -> list[Edit]:
        assert self._reveal is not None
        if "${" not in text:
            return []
        edits: list[Edit] = []
        for found in self._reveal.finditer(text):
            spell = SPELLINGS.get(found[3] or "")
            if len(found[1]) % 2 and spell is not None:
                new = "$" * (len(found[1]) // 2) + spell(self._values[found[2]])
                edits.append(Edit(found.start(), found.end(), new))
            else:
                edits.append(Edit(found.start(1), found.end(1), "$" * (len(found[1]) // 2)))
        return edits

    def _remember(self, text: str) -> None:
        """A conversation is sent again with every turn: what was clean once need not be searched again."""
        self._clean_size += len(text)
        if self._clean_size > _MOST_CLEAN:
            self._clean, self._clean_size = set(), len(text)
        self._clean.add(text)


def _any(texts: Mapping[str, object]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def _hiding(secrets: Mapping[str, str], placeholders: Mapping[str, object]) -> re.Pattern[str] | None:
    """Finds every spelling of every secret, the longest first, and what would read as a placeholder."""
    if not secrets:
        return None
    return re.compile(rf"{_any(placeholders)}|\{{(?:{_any(secrets)})(?::[a-z0-9-]+)?\}}")


def _members(keys: frozenset[str]) -> re.Pattern[str] | None:
    if not keys:
        return None
    names = "|".join(map(re.escape, sorted(keys)))
    text = r'(?P<quote>\\*")(?:(?!(?P=quote))(?:[^\\]|\\.))*(?P=quote)'
    return re.compile(rf'\\*"(?P<key>{names})\\*"\s*:\s*({text}|[^\s",\]}}\\]+(?P<none>))', re.IGNORECASE)


def _apart(edits: list[Edit]) -> list[Edit]:
    """The edits in order; of two that overlap, the one that begins first."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


@overload
def _mapped(value: str, edits: Edits, keys: frozenset[str]) -> str: ...
@overload
def _mapped(value: JsonValue | bytes, edits: Edits, keys: frozenset[str]) -> JsonValue | bytes: ...
def _mapped(value: JsonValue | bytes, edits: Edits, keys: frozenset[str]) -> JsonValue | bytes:
    if isinstance(value, bytes):
        text = value.decode("utf-8", "surrogateescape")
        found = edits(text)
        return stitch.apply(text, found).encode("utf-8", "surrogateescape") if found else value
    return _value(value, edits, keys)


def _value(value: JsonValue, edits: Edits, keys: frozenset[str]) -> JsonValue:
    if isinstance(value, str):
        found = edits(value)
        return stitch.apply(value, found) if found else value
    if isinstance(value, dict):
        return _object(value, edits, keys)
    if isinstance(value, list):
        items = [_value(item, edits, keys) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def _object(value: dict[str, JsonValue], edits: Edits, keys: frozenset[str]) -> dict[str, JsonValue]:
    changed = False
    members: dict[str, JsonValue] = {}
    for key, old in value.items():
        if key.lower() in keys and old is not None:
            new: JsonValue = "${REDACTED:" + key + "}"
        elif stitch.is_opaque(key, value):
            new = old
        else:
            new = _value(old, edits, keys)
        found = edits(key)
        name = stitch.apply(key, found) if found else key
        changed = changed or new is not old or name != key
        members[name] = new
    return members if changed else value


def _body(body: Body, edits: Edits, keys: frozenset[str]) -> Body:
    match body:
        case JsonBody(value, source):
            new = _value(value, edits, keys)
            if new is value:
                return body
            known = layout.name(value, source) if source is not None else None
            return JsonBody(new, layout.write(new, known) if known else None)
        case MultipartBody(parts):
            return MultipartBody(tuple(_part(part, edits, keys) for part in parts))
        case BytesBody(data):
            changed = _mapped(data, edits, keys)
            return body if changed is data else BytesBody(bytes(changed))  # type: ignore[arg-type]  # bytes in, bytes out


def _part(part: Part, edits: Edits, keys: frozenset[str]) -> Part:
    headers = dict(part.headers)
    name = re.search(r'\bname="([^"]*)"', headers.get("content-disposition", ""))
    if name and name[1].lower() in keys:
        return Part(part.headers, ("${REDACTED:" + name[1] + "}").encode())
    data = _mapped(part.data, edits, keys)
    return Part(tuple((key, _mapped(value, edits, keys)) for key, value in part.headers), bytes(data))  # type: ignore[arg-type]
