"""What to do about a difference: the pin that would allow it, ready to paste, or what to look for."""

from __future__ import annotations

import re

from flowproof_addons.matching import kinds
from flowproof_addons.matching.difference import NUMBERS, Difference
from flowproof_addons.trace.pointer import Path

_CONTEXT = 24
"""Characters of the text before a volatile word that a suggested pin keeps."""

_UNESCAPED = re.compile(r'[^"\\\x00-\x1f\x7f-\U0010ffff]*\Z')
"""The end of a text that stands in JSON as it is, whoever writes it."""

_HINTS = {
    "cache_control added": "the client now marks a block for caching: another version or setting",
    "cache_control removed": "the client no longer marks a block for caching: another version or setting",
    "key order in JSON text": "the agent builds this JSON text from an unordered map; sort its keys",
    "white space in JSON text": "the agent writes this JSON text with another serialiser or other separators",
    "text against list of text": "the same text in another form: another client version, usually",
    "number literal": "the same number, written differently: another serialiser, or an int that became a float",
    "line ends (CR LF against LF)": "a file or template was checked out with other line ends (git's autocrlf)",
    "Unicode normal form": "the same letters, composed differently (macOS file names are decomposed)",
    "another order": "the same items in another order; if the order means nothing, pin the list with `unordered: true`",
}


def hint(difference: Difference) -> str:
    """What such a difference usually comes from; empty where nothing can be said."""
    return _HINTS.get(difference.kind, "")


def pin(difference: Difference) -> tuple[str, ...]:
    """The lines of a pin that allows a volatile difference and nothing else; none for an edited text."""
    if difference.texts is None:
        return ()
    recorded, sent = difference.texts
    spot = kinds.spot(recorded, sent)
    kind = kinds.volatile(recorded[slice(*spot.recorded)], sent[slice(*spot.sent)])
    if kind is None:
        return ()
    alone = spot.recorded == (0, len(recorded)) and spot.sent == (0, len(sent))
    if difference.inside:
        match = _inside(difference, recorded[: spot.recorded[0]], kind.pattern, alone)
    else:
        before = _context(recorded, spot.recorded[0])
        match = f"^{kind.pattern}$" if alone else f"{_escaped(before)}({kind.pattern})"
    if not match:
        return ()
    return (
        "pins:",
        f"  - at: {_at(difference.place)}",
        f"    match: {_quoted(match)}",
        *([f"    kind: {kind.pin}"] if kind.pin != "text" else []),
        f"    why: {kind.title} ...",
    )


def _inside(difference: Difference, before: str, pattern: str, alone: bool) -> str:
    """What finds a value in the JSON text it stands in: the key it has there, and what stands before it.

    Empty for a number without a key: it would be found everywhere.
    """
    key = difference.inside[-1][-1] if difference.inside[-1] else 0
    number = difference.kind in NUMBERS
    if number and not isinstance(key, str):
        return ""
    quote = '"' if len(difference.inside) == 1 else r'\\+"'
    named = rf"{quote}{_escaped(key)}{quote}:\s*" if isinstance(key, str) else ""
    if number:
        return f"{named}({pattern})"
    plain = _UNESCAPED.findall(before)[0]
    if plain != before or len(before) > _CONTEXT:
        return f"{_escaped(_context(plain, len(plain)))}({pattern})"
    return f"{named}{quote}{_escaped(before)}({pattern})" + (quote if alone else "")


def _context(text: str, end: int) -> str:
    """The last words before a place, from the beginning of their sentence or line where that is near."""
    before = text[max(0, end - _CONTEXT) : end]
    sentence = re.split(r"[\n\uf8ff]|(?<=[.!?;]) ", before)[-1]
    return sentence if len(sentence) < len(before) or end <= _CONTEXT else sentence.partition(" ")[2]


def _at(place: Path) -> str:
    """The place, with any item of a conversation for the one that differs: later turns send it again."""
    text = ""
    for step in place:
        text += "[*]" if isinstance(step, int) else f".{step}" if text else step
    return text or "**"


def _escaped(text: str) -> str:
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
