"""Values of agents and models as people read them: text as text, JSON tinted, and nothing endless."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pretty import pretty
from flowproof_runner.report.html.markup import Child, Markup, el, join

LONGEST = 20_000
"""Characters of one value that the page shows."""

_TOKEN = re.compile(r'("(?:\\.|[^"\\])*")(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b')
_INLINE = 60


def value(shown: JsonValue) -> Markup:
    """A value as a block; a text is shown as it is, without quotes."""
    if isinstance(shown, str):
        return text(shown)
    whole = pretty(shown)
    kept, left_out = _cut(whole)
    return el("pre", el("code", _tinted(kept)), _more(left_out), cls="json", tabindex=0 if _long(kept) else None)


def text(shown: str, cls: str = "text") -> Markup:
    """Text as a block, its lines kept."""
    kept, left_out = _cut(shown)
    if not kept.strip():
        return el("p", "(empty)", cls="muted")
    return el("pre", kept, _more(left_out), cls=cls, tabindex=0 if _long(kept) else None)


def arguments(given: JsonValue) -> Markup:
    """What a tool is called with, on one line, short."""
    if not isinstance(given, dict):
        return el("code", _brief(given), cls="brief")
    parts = [f"{name}: {_brief(inner)}" for name, inner in given.items()]
    return el("code", join(", ", parts), cls="brief")


def _brief(shown: JsonValue) -> str:
    whole = shown if isinstance(shown, str) else " ".join(pretty(shown).split())
    return whole if len(whole) <= _INLINE else f"{whole[:_INLINE]}…"


def _cut(whole: str) -> tuple[str, int]:
    return whole[:LONGEST], max(0, len(whole) - LONGEST)


def _more(left_out: int) -> Child:
    return el("span", f"\n… {left_out:,} more characters (flowproof show --full)", cls="muted") if left_out else None


def _long(kept: str) -> bool:
    """A block that scrolls has to be reachable by keyboard."""
    return kept.count("\n") > 14


def _tinted(source: str) -> Iterator[Child]:
    end = 0
    for found in _TOKEN.finditer(source):
        yield source[end : found.start()]
        string, colon, number, word = found.groups()
        if string and colon:
            yield el("span", string, cls="key")
            yield colon
        else:
            yield el("span", string or number or word, cls="str" if string else "num")
        end = found.end()
    yield source[end:]
