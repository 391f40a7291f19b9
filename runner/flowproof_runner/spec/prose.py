"""The one-line assertion grammar: `TOOL [where CLAUSE {and CLAUSE}]` and `reply MATCHER TEXT`."""

from __future__ import annotations

import re

from flowproof_runner.expectations.ast import CallAssertion, Clause, Kind, ReplyAssertion
from flowproof_runner.matchers.matchers import (
    Absent,
    Compares,
    Contains,
    Equals,
    Exists,
    In,
    Matcher,
    Matches,
    Not,
    Operand,
    Order,
)
from flowproof_runner.matchers.path import Path
from flowproof_runner.matchers.regex import PatternError, compiled
from flowproof_runner.spec.tokens import Cursor, ProseError

MATCHERS = "equals|is VALUE, contains VALUE, matches REGEX, exists, is absent, < <= > >= NUMBER, in [a, b], not MATCHER"
REPLY_MATCHERS = "contains|is TEXT, equals TEXT, matches REGEX, not MATCHER"

_TOOL = re.compile(r"[A-Za-z0-9_./:-]+")
_ORDERS: dict[str, Order] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}
_GLUED = re.compile(r"(<=?|>=?)(?=[^\s<>=])")


def call(text: str, kind: Kind) -> CallAssertion:
    """Read `search_flights where destination contains NBO`.

    Raises ProseError if it cannot be read.
    """
    cursor = Cursor(text)
    tool = tool_name(cursor)
    if cursor.done:
        return CallAssertion(kind, tool)
    if not cursor.take("where"):
        raise cursor.error(f"expected 'where' after the tool, found {cursor.peek() or cursor.text[cursor.column]!r}")
    return CallAssertion(kind, tool, _clauses(cursor))


def tool_name(cursor: Cursor) -> str:
    """Take a tool's name.

    Raises ProseError if there is none.
    """
    column = cursor.column
    word = cursor.word()
    found = _TOOL.match(word)
    if found is None or found.end() != len(word):
        bad = column + (found.end() if found else 0)
        raise cursor.error("expected a tool name; accepted: letters, digits, _ - . / :", bad)
    return word


def clauses(text: str) -> tuple[Clause, ...]:
    """Read what may stand behind `where`.

    Raises ProseError if it cannot be read.
    """
    return _clauses(Cursor(text))


def reply(text: str) -> ReplyAssertion:
    """Read `reply contains booked`; the text runs to the end of the line.

    Raises ProseError if it cannot be read.
    """
    cursor = Cursor(text)
    if not cursor.take("reply"):
        raise cursor.error(f"expected 'reply', found {cursor.peek()!r}; accepted: reply {REPLY_MATCHERS}")
    return ReplyAssertion(_reply_matcher(cursor))


def _clauses(cursor: Cursor) -> tuple[Clause, ...]:
    found = [_clause(cursor)]
    while not cursor.done:
        if not cursor.take("and"):
            raise cursor.error(f"expected 'and' or the end, found {_next(cursor)!r}")
        found.append(_clause(cursor))
    return tuple(found)


def _clause(cursor: Cursor) -> Clause:
    if cursor.done:
        raise cursor.error(f"a clause is missing here; accepted: PATH {MATCHERS}")
    path, quoted = cursor.path()
    return addressed(path, quoted, _matcher(cursor, path))


def addressed(path: Path, quoted: bool, matcher: Matcher) -> Clause:
    """A clause on what its path addresses: `result...` means the call's result unless that word is in quotes."""
    if quoted or not path.segments or path.segments[0] != "result":
        return Clause(path, matcher)
    inside = Path(path.segments[1:])
    if inside.segments == ("is_error",):
        return Clause(Path(), matcher, "is_error")
    return Clause(inside, matcher, "result")


def _matcher(cursor: Cursor, path: Path) -> Matcher:
    column = cursor.column
    word = _keyword(cursor)
    match word:
        case "not":
            return Not(_matcher(cursor, path))
        case "is" if cursor.take("not"):
            return Not(_is(cursor))
        case "is":
            return _is(cursor)
        case "equals":
            return Equals(cursor.value("accepted: equals VALUE"))
        case "contains":
            return Contains(cursor.value("accepted: contains VALUE"))
        case "matches":
            return _regex(cursor)
        case "exists":
            return Exists()
        case "in":
            return In(cursor.list())
        case "<" | "<=" | ">" | ">=":
            return Compares(_ORDERS[word], _number(cursor, word))
        case _:
            raise cursor.error(_no_matcher(word, path), column)


def _no_matcher(word: str, path: Path) -> str:
    found = f"{word!r} is no matcher" if word else "a matcher is missing here"
    hint = f'. If "and {path}" belongs to the value before, put that value in double quotes' if not word else ""
    return f"{found}; accepted after a path: {MATCHERS}{hint}"


def _is(cursor: Cursor) -> Matcher:
    for word in ("absent", "missing"):
        if cursor.peek() == word and _ends_clause(cursor, word):
            cursor.word()
            return Absent()
    if cursor.peek() == "in" and cursor.text[cursor.column + 2 :].lstrip().startswith("["):
        cursor.word()
        return In(cursor.list())
    return Equals(cursor.value("accepted: is VALUE, is absent"))


def _ends_clause(cursor: Cursor, word: str) -> bool:
    """`is missing` alone; `is missing a wheel` is a value."""
    after = cursor.text[cursor.column + len(word) :].split()
    return not after or after[0] == "and"


def _keyword(cursor: Cursor) -> str:
    """The next word; `>=5` without a blank reads as `>= 5`."""
    glued = _GLUED.match(cursor.peek())
    if glued is None:
        return cursor.word()
    cursor.skip(len(glued.group()))
    return glued.group()


def _number(cursor: Cursor, word: str) -> Operand:
    column = cursor.column
    bound = cursor.value(f"accepted: {word} NUMBER")
    if isinstance(bound.value, bool) or not isinstance(bound.value, int | float):
        raise cursor.error(f"{bound.text!r} is no number; accepted: {word} NUMBER, such as {word} 5", column)
    return bound


def _regex(cursor: Cursor) -> Matches:
    column = cursor.column
    return _compiled(cursor.value("accepted: matches REGEX").text, column)


def _compiled(pattern: str, column: int) -> Matches:
    try:
        return Matches(compiled(pattern))
    except PatternError as error:
        raise ProseError(str(error), column) from error


def _reply_matcher(cursor: Cursor) -> Matcher:
    column = cursor.column
    word = cursor.word()
    if word == "not" or (word == "is" and cursor.take("not")):
        return Not(Contains(_text(cursor)) if word == "is" else _reply_matcher(cursor))
    match word:
        case "contains" | "is":
            return Contains(_text(cursor))
        case "equals":
            return Equals(_text(cursor))
        case "matches":
            column = cursor.column
            return _compiled(_text(cursor).text, column)
        case _:
            found = f"{word!r} is no matcher of the reply" if word else "a matcher is missing here"
            raise cursor.error(f"{found}; accepted: reply {REPLY_MATCHERS}", column)


def _text(cursor: Cursor) -> Operand:
    text = cursor.rest()
    if not text:
        raise cursor.error(f"a text is missing here; accepted: reply {REPLY_MATCHERS}")
    return Operand(text, text)


def _next(cursor: Cursor) -> str:
    return cursor.peek() or cursor.text[cursor.column :]
