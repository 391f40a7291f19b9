"""The last lines of what an agent printed."""

from __future__ import annotations

import re
from pathlib import Path

_LINES = 20
_BYTES = 16 * 1024
_WIDTH = 400
_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def tail(path: Path, lines: int = _LINES) -> tuple[str, ...]:
    """The last lines of the file, bounded, and safe to print: no escape sequence or control character is left."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _BYTES))
            data = file.read(_BYTES)
    except OSError:
        return ()
    found = clean(data.decode("utf-8", "replace")).split("\n")
    if size > _BYTES:
        found = found[1:] or found  # the first line is cut
    return tuple(line[:_WIDTH] for line in found if line.strip())[-lines:]


def clean(text: str) -> str:
    """`text` without what a terminal would obey; tabs and newlines stay."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
