"""What kind of difference lies between two texts: two dates, two ids, white space, an edited sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from flowproof_addons.matching import dates
from flowproof_addons.trace.json_value import JsonError, compact, parse
from flowproof_addons.trace.model import JsonValue

_WORD = re.compile(r"[\w.:+/~@%-]")
_LONGEST_WORD = 300


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of volatile text."""

    title: str
    """`two dates`."""
    pattern: str
    """A regular expression for such a text, without groups."""
    pin: str = "text"
    """The `kind` of the pin that fits."""


_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

KINDS = (
    Kind("two timestamps", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"),
    Kind("two dates", r"\d{4}-\d\d-\d\d", "date"),
    Kind("two dates", r"\d{1,2}[/.]\d{1,2}[/.]\d{4}", "date"),
    Kind("two clock times", r"\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?"),
    Kind("two UUIDs", _UUID),
    Kind("two ids with a UUID", rf"[A-Za-z_-]+{_UUID}"),
    Kind("two Unix times", r"1[4-9]\d{8}(?:\d{3}|\d{6})?(?:\.\d+)?"),
    Kind("two temporary paths", r"(?:/private)?(?:/var/folders|/tmp|/var/tmp)/[^\s\"'<>,;)]+"),
    Kind("two paths", r"(?:~|[A-Za-z]:)?[\\/](?:[\w.@%+~-]+[\\/])+[\w.@%+~-]*|/[\w.@%+~-]+", "path"),
    Kind("two hexadecimal ids", r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f0-9]{5})[0-9a-f]{6,}"),
    Kind("two numbers", r"-?\d+(?:\.\d+)?(?:[a-zA-Z%]{1,3})?"),
    Kind("two generated ids", r"[A-Za-z]+[_-][A-Za-z0-9_-]*\d[A-Za-z0-9_-]{5,}"),
)
"""In the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where two texts part: the spans of the word around the first difference, in each."""

    recorded: tuple[int, int]
    sent: tuple[int, int]


def spot(recorded: str, sent: str) -> Spot:
    """The first difference: the whole words there if they are volatile, else up to where the texts agree again."""
    start = _common(recorded, sent)
    dated = _date_at(recorded, start), _date_at(sent, start)
    if dated[0] and dated[1] and dated[0][0] == dated[1][0]:
        return Spot(dated[0], dated[1])
    begin = start
    while begin > 0 and start - begin < _LONGEST_WORD and _WORD.match(recorded[begin - 1]):
        begin -= 1
    words = (begin, _word_end(recorded, start)), (begin, _word_end(sent, start))
    if volatile(recorded[slice(*words[0])], sent[slice(*words[1])]):
        return Spot(*words)
    tail = _common(recorded[start:][::-1], sent[start:][::-1])
    return Spot((start, len(recorded) - tail), (start, len(sent) - tail))


def volatile(recorded: str, sent: str) -> Kind | None:
    """The kind of volatile text that both are, else None."""
    fitting = (kind for kind in KINDS if re.fullmatch(kind.pattern, recorded) and re.fullmatch(kind.pattern, sent))
    if kind := next(fitting, None):
        return kind
    is_date = dates.readings(recorded) and dates.readings(sent) and dates.form(recorded) == dates.form(sent)
    return Kind("two dates", r"[\w ,./-]+?\d{4}", "date") if is_date else None


def title(recorded: str, sent: str) -> str:
    """The kind of difference between two different texts, in a few words."""
    for name, same in _SAME_BUT:
        if same(recorded) == same(sent):
            return name
    where = spot(recorded, sent)
    kind = volatile(recorded[slice(*where.recorded)], sent[slice(*where.sent)])
    return kind.title if kind else "different text"


def embedded(recorded: str, sent: str) -> tuple[JsonValue, JsonValue] | None:
    """The two values when both texts are JSON objects or lists, else None."""
    if recorded[:1] not in ("{", "[") or sent[:1] not in ("{", "["):
        return None
    try:
        return parse(recorded), parse(sent)
    except JsonError:
        return None


def layout_title(recorded: JsonValue, sent: JsonValue) -> str:
    """Why two JSON texts of the same value differ."""
    return "white space in JSON text" if compact(recorded) == compact(sent) else "key order in JSON text"


def _date_at(text: str, offset: int) -> tuple[int, int] | None:
    """The date in words or digits that holds this place."""
    begin = max(0, offset - 40)
    for found in dates.DATE.finditer(text, begin, offset + 40):
        if found.start() <= offset <= found.end() and dates.readings(found[0]):
            return found.span()
    return None


def _common(one: str, other: str) -> int:
    """Length of the common head, by halving: text is long, comparing slices is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _word_end(text: str, start: int) -> int:
    end = start
    while end < len(text) and end - start < _LONGEST_WORD and _WORD.match(text[end]):
        end += 1
    while end > start and text[end - 1] in ".,:;":  # the end of a sentence is no part of its last word
        end -= 1
    return end


_SAME_BUT: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("line ends (CR LF against LF)", lambda text: text.replace("\r\n", "\n")),
    ("white space", lambda text: " ".join(text.split())),
    ("upper and lower case", str.casefold),
    ("Unicode normal form", lambda text: unicodedata.normalize("NFC", text)),
)
