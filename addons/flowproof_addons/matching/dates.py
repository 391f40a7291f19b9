"""Dates as clients write them into prompts: read in any common form, compared in their own."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = "|".join([*_MONTHS, "sept", *(month[:3] for month in _MONTHS)])
_DAY = "|".join([*_DAYS, *(day[:3] for day in _DAYS)])

DATE = re.compile(
    rf"""(?<![\w.-])(?:
      (?P<y1>\d{{4}})(?P<sep>[-/.])(?P<m1>\d\d?)(?P=sep)(?P<d1>\d\d?)
        (?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
    | (?P<a>\d\d?)(?P<sep2>[-/.])(?P<b>\d\d?)(?P=sep2)(?P<y2>\d{{4}})
    | (?:(?P<w1>{_DAY})\.?,?[ ])?(?P<n1>{_MONTH})\.?[ ](?P<d2>\d\d?)(?:st|nd|rd|th)?,?[ ](?P<y3>\d{{4}})
    | (?:(?P<w2>{_DAY})\.?,?[ ])?(?P<d3>\d\d?)(?:st|nd|rd|th)?[ ](?P<n2>{_MONTH})\.?,?[ ](?P<y4>\d{{4}})
    )(?![\w-])""",
    re.VERBOSE | re.IGNORECASE,
)
"""One date, in digits (`2026-12-02`, `12/2/2026`, an ISO time) or in English words (`Wed, December 2nd, 2026`)."""


def readings(text: str) -> set[dt.date]:
    """Every day the whole text can mean: none for other text, two for `3/4/2026`."""
    found = DATE.fullmatch(text.strip())
    return set(_days(found)) if found else set()


def form(text: str) -> str:
    """How a date is written, with its day left out: `2026-12-02` and `2027-01-05` have the same form."""
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "th", text.strip())
    text = re.sub(rf"\b(?:{_DAY})\b", _weekday_form, text, flags=re.IGNORECASE)
    text = re.sub(rf"\b(?:{_MONTH})\b", "M", text, flags=re.IGNORECASE)
    return re.sub(r"\d+", lambda digits: "Y" if len(digits[0]) == 4 else "n", text)


def _weekday_form(found: re.Match[str]) -> str:
    return "D" if len(found[0]) > 3 else "d"


def _days(found: re.Match[str]) -> Iterator[dt.date]:
    year = int(next(found[group] for group in ("y1", "y2", "y3", "y4") if found[group]))
    if found["m1"]:
        pairs = [(int(found["m1"]), int(found["d1"]))]
    elif found["a"]:
        pairs = [(int(found["a"]), int(found["b"])), (int(found["b"]), int(found["a"]))]
    else:
        name = found["n1"] or found["n2"]
        pairs = [(_month(name), int(found["d2"] or found["d3"]))]
    weekday = found["w1"] or found["w2"]
    for month, day in pairs:
        try:
            date = dt.date(year, month, day)
        except ValueError:
            continue
        if weekday is None or _DAYS[date.weekday()].startswith(weekday.lower()):
            yield date


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name.lower()[:3]))
