"""Where a secret stands in a trace, in any spelling that a reader could undo."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flowproof_addons.trace import stitch
from flowproof_addons.trace.model import Body, BytesBody, Exchange, JsonBody, JsonValue, MultipartBody, Trace
from flowproof_addons.trace.shape import written
from flowproof_addons.trace.spelling import spellings


@dataclass(frozen=True, slots=True)
class Leak:
    """One place where the secret stands. Never holds the secret itself."""

    turn: int | None
    """Number of the model turn, from 1; None outside the model turns."""
    path: str
    """`request.messages[3].content`, `reply.choices[0].text`, `side call 2: request.input`, `mcp.files.calls[0]`."""
    spelling: str
    """`plain`, `hidden` (written as `${NAME}`), `json`, `url`, `base64`, `hex`; `..., in pieces` in a stream."""


def find(trace: Trace, name: str, value: str) -> list[Leak]:
    """Every place of the trace that holds the secret `name`; a text that later requests repeat counts once."""
    search = _Search(name, value)
    turn = side_call = 0
    for exchange in trace.exchanges:
        if exchange.is_turn:
            turn += 1
            search.exchange(exchange, turn, "")
        else:
            side_call += 1
            search.exchange(exchange, None, f"side call {side_call}: ")
    for number, exchange in enumerate(trace.faulted, 1):
        search.exchange(exchange, None, f"faulted request {number}: ")
    for server, lane in trace.mcp.items():
        search.value(lane, None, "", ("mcp", server))
    search.value(trace.mocks, None, "", ("mocks",))
    search.value(dict(trace.extra), None, "", ())
    return search.found


def find_in_text(text: str, name: str, value: str) -> str | None:
    """The spelling in which a text holds the secret, else None."""
    return _Search(name, value).spelling(text)


class _Search:
    def __init__(self, name: str, value: str) -> None:
        self.found: list[Leak] = []
        self._spellings = {text: spelling for text, spelling in spellings(value).items() if text}
        either = "|".join(re.escape(text) for text in sorted(self._spellings, key=len, reverse=True))
        hidden = rf"(?<!\$)(?:\$\$)*\$\{{{re.escape(name)}(?::[a-z0-9-]+)?\}}"
        self._pattern = re.compile(f"{either}|{hidden}" if either else hidden)
        dense = (text for text, spelling in self._spellings.items() if spelling.startswith(("base64", "hex")))
        self._dense = re.compile("|".join(map(re.escape, dense)) or "(?!)")
        self._seen: set[tuple[str, str]] = set()
        self._walked: dict[int, JsonValue] = {}

    def spelling(self, text: str) -> str | None:
        found = self._pattern.search(text) or self._in_lines(text)
        if found is None:
            return None
        name = self._spellings.get(found[0], "hidden")
        return name.partition("-")[0] or "plain"

    def _in_lines(self, text: str) -> re.Match[str] | None:
        """Base64 and hexadecimal digits as tools print them: in lines of 76 characters, in groups."""
        words = text.split()
        return self._dense.search("".join(words)) if len(words) > 1 else None

    def exchange(self, exchange: Exchange, turn: int | None, before: str) -> None:
        request, reply = exchange.request, exchange.reply
        self._text(request.path, turn, before + "request path")
        self._text(request.query, turn, before + "request query")
        self._headers(dict(request.headers), turn, before + "request header ")
        self._body(request.body, turn, before, ("request",))
        self._headers(dict(reply.headers), turn, before + "reply header ")
        self._body(reply.body, turn, before, ("reply",))
        for stream in stitch.streams(reply.frames or ()):
            self._text(stream, turn, before + "reply stream", ", in pieces")
        for index, attempt in enumerate(exchange.attempts):
            self._headers(dict(attempt.headers), turn, f"{before}attempts[{index}] header ")
            self._body(attempt.body, turn, before, ("attempts", index))

    def value(self, value: JsonValue, turn: int | None, before: str, path: tuple[str | int, ...]) -> None:
        """Search a value; what later requests share with earlier ones is walked once."""
        if isinstance(value, str):
            self._text(value, turn, before + written(path))
        elif isinstance(value, dict | list):
            if id(value) in self._walked:
                return
            self._walked[id(value)] = value
            for step, child in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(step, str):
                    self._text(step, turn, f"{before}{written(path)} (a key)")
                self.value(child, turn, before, (*path, step))

    def _body(self, body: Body, turn: int | None, before: str, path: tuple[str | int, ...]) -> None:
        match body:
            case JsonBody(value):
                self.value(value, turn, before, path)
            case MultipartBody(parts):
                for index, part in enumerate(parts):
                    self._headers(dict(part.headers), turn, f"{before}{written(path)} part {index} header ")
                    self._text(_decoded(part.data), turn, f"{before}{written(path)} part {index}")
            case BytesBody(data):
                self._text(_decoded(data), turn, before + written(path))

    def _headers(self, headers: dict[str, str], turn: int | None, before: str) -> None:
        for name, value in headers.items():
            self._text(value, turn, before + name)

    def _text(self, text: str, turn: int | None, path: str, how: str = "") -> None:
        spelling = self.spelling(text)
        if spelling is not None and (path, text) not in self._seen:
            self._seen.add((path, text))
            self.found.append(Leak(turn, path, spelling + how))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
