"""Matchers and values in words: for reports, for `check --explain`, and so that prose reads back as what it was."""

from __future__ import annotations

import re
from typing import assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.ast import Clause
from flowproof_runner.expectations.matchers import (
    Absent,
    Compares,
    Contains,
    Equals,
    Exactly,
    Exists,
    In,
    Matcher,
    Matches,
    Not,
    Operand,
    Subset,
    json_text,
    literal,
)
from flowproof_runner.expectations.path import Missing, quote


def words(matcher: Matcher) -> str:
    """The matcher in the prose grammar, where the grammar has it."""
    match matcher:
        case Equals(operand=wanted):
            return f"equals {written(wanted)}"
        case Contains(operand=wanted):
            return f"contains {written(wanted)}"
        case Matches(pattern=pattern):
            return f"matches {written(Operand(pattern.pattern, pattern.pattern), plain=True)}"
        case Exists():
            return "exists"
        case Absent():
            return "is absent"
        case Compares(order=order, bound=bound):
            return f"{order} {bound.text}"
        case In(operands=operands):
            return f"in [{', '.join(written(each, stops=',]') for each in operands)}]"
        case Subset(value=value):
            return f"includes {json_text(value)}"
        case Exactly(value=value):
            return f"is exactly {json_text(value)}"
        case Not(matcher=inner):
            return f"not {words(inner)}"
        case _:
            assert_never(matcher)


def written(wanted: Operand, *, plain: bool = False, stops: str = "") -> str:
    """An operand as prose reads it back. `plain`: any text is text, as for a regular expression."""
    if not isinstance(wanted.value, str):
        return wanted.text
    text = wanted.value
    reads_back = plain or (literal(text) == text and isinstance(literal(text), str))
    ambiguous = (
        text != text.strip()
        or not text
        or text.startswith(('"', "not ", "in ", "absent", "missing"))
        or _AND.search(text) is not None
        or any(stop in text for stop in stops)
    )
    return text if reads_back and not ambiguous else quote(text)


def shown(value: JsonValue | Missing, limit: int = 120) -> str:
    """A value as a report shows it: compact JSON, cut when it is long, `nothing` where it is missing."""
    if isinstance(value, Missing):
        return "nothing"
    text = json_text(value)
    return text if len(text) <= limit else f"{text[: limit - 20]}... ({len(text)} characters)"


_AND = re.compile(r"(^|\s)and(\s|$)")


def clause_words(clause: Clause) -> str:
    """A clause in the prose grammar."""
    path = str(clause.path)
    match clause.subject:
        case "arguments":
            if clause.path.segments[:1] == ("result",):
                path = '"result"' + path.removeprefix("result")
        case "result":
            path = f"result.{path}" if path else "result"
        case "is_error":
            path = "result.is_error"
    return f"{path} {words(clause.matcher)}".lstrip()
