"""One frame of a stream, read as its JSON payload where writing the payload again gives the same bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from flowproof_addons.trace.json_value import JsonError, compact, parse
from flowproof_addons.trace.model import JsonValue

type Newline = Literal["\n", "\r\n"]
type Style = Literal["compact", "spaced", "ascii", "spaced ascii"]

NEWLINES: Mapping[str, Newline] = {"\n": "\n", "\r\n": "\r\n"}
STYLES: Mapping[str, Style] = {
    "compact": "compact",
    "spaced": "spaced",
    "ascii": "ascii",
    "spaced ascii": "spaced ascii",
}
_SSE = re.compile(r"(?:event: ([^\r\n]*)(\r?\n))?data: ([^\r\n]*)(\r?\n)(\r?\n)")


@dataclass(frozen=True, slots=True)
class Frame:
    """An SSE event (`event:` and `data:` lines) or a line of NDJSON whose payload is JSON."""

    payload: JsonValue
    event: str | None = None
    """The `event:` line's text, None where there is no such line."""
    kind: Literal["sse", "line"] = "sse"
    style: Style = "compact"
    newline: Newline = "\n"
    pad: int = 0
    """Spaces before the payload's last brace: Anthropic and others hide the length of a token that way."""

    def text(self) -> str:
        """The payload as it stands on the wire."""
        text = compact(self.payload, spaced="spaced" in self.style, ascii_only="ascii" in self.style)
        return text[:-1] + " " * self.pad + text[-1] if self.pad else text

    def wrap(self, text: str) -> str:
        """The frame around a payload text."""
        if self.kind == "line":
            return text + self.newline
        head = "" if self.event is None else f"event: {self.event}{self.newline}"
        return f"{head}data: {text}{self.newline}{self.newline}"

    def render(self) -> bytes:
        """The frame's bytes."""
        return self.wrap(self.text()).encode()


def read(frame: bytes) -> Frame | None:
    """The frame, or None when its bytes cannot be written again from the payload: `read(x).render() == x` else."""
    try:
        text = frame.decode()
    except UnicodeDecodeError:
        return None
    event: str | None = None
    kind: Literal["sse", "line"] = "sse"
    found = _SSE.fullmatch(text)
    if found:
        event, payload, newline = found[1], found[3], found[4]
    elif text[:1] in "{[" and text.endswith("\n"):
        kind = "line"
        newline = "\r\n" if text.endswith("\r\n") else "\n"
        payload = text.removesuffix(newline)
    else:
        return None
    try:
        value = parse(payload)
    except JsonError:
        return None
    return _styled(value, event, kind, "\r\n" if newline == "\r\n" else "\n", payload, frame)


def _styled(
    value: JsonValue,
    event: str | None,
    kind: Literal["sse", "line"],
    newline: Newline,
    payload: str,
    frame: bytes,
) -> Frame | None:
    pad = len(payload[:-1]) - len(payload[:-1].rstrip(" "))
    for style in STYLES.values():
        candidate = Frame(value, event, kind, style, newline, pad)
        if candidate.text() == payload:
            return candidate if candidate.render() == frame else None
    return None
