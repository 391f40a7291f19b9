"""The YAML twins of assertion prose: `where: { flight.id: KQ311, price: { "<": 500 } }`."""

from __future__ import annotations

from collections.abc import Callable

from flowproof_runner.expectations.ast import Clause, ReplyAssertion
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
    literal,
    operand,
)
from flowproof_runner.matchers.path import PathError, scan
from flowproof_runner.matchers.regex import PatternError, compiled
from flowproof_runner.reading.fields import kind
from flowproof_runner.reading.problems import Complaint, Loc, refuse
from flowproof_runner.reading.scalars import Node, Scalar, value
from flowproof_runner.spec import prose
from flowproof_runner.spec.tokens import ProseError

_FORMS = "equals, is, contains, matches, exists: true, absent: true, <, <=, >, >=, in: [a, b], not: {...}"
_REPLY_FORMS = "contains, is, equals, matches, not: {...}"


def clauses(node: Node) -> tuple[Clause, ...]:
    """Read `where:`, as prose or as a mapping from paths to what is demanded there.

    Raises a pydantic error with every complaint.
    """
    if isinstance(node, str):
        try:
            return prose.clauses(node)
        except ProseError as error:
            raise refuse(Complaint(str(error), (), error.column)) from error
    if not isinstance(node, dict) or not node:
        raise refuse(Complaint(f"expected clauses, found {kind(node)}; accepted: PATH MATCHER, or {{ PATH: VALUE }}"))
    complaints: list[Complaint] = []
    found = [clause for text, inner in node.items() for clause in _of_path(text, inner, complaints)]
    if complaints:
        raise refuse(*complaints)
    return tuple(found)


def reply(node: Node) -> ReplyAssertion:
    """Read `{ contains: booked }`, which stands under `reply:`.

    Raises a pydantic error with every complaint.
    """
    complaints: list[Complaint] = []
    if not isinstance(node, dict) or len(node) != 1:
        raise refuse(Complaint(f"expected one matcher, found {kind(node)}; accepted: {_REPLY_FORMS}"))
    found = _reply_matcher(node, (), complaints)
    if complaints or found is None:
        raise refuse(*complaints)
    return ReplyAssertion(found)


def _of_path(text: str, node: Node, complaints: list[Complaint]) -> list[Clause]:
    try:
        path, end = scan(text, 0)
        if end != len(text):
            raise PathError("a path holds no blanks; put a segment that has them in double quotes", end)
    except PathError as error:
        complaints.append(Complaint(f"bad path, at character {error.column + 1}: {error}", (text,)))
        return []
    matchers = _matchers(node, (text,), complaints)
    return [prose.addressed(path, text.startswith('"'), matcher) for matcher in matchers]


def _matchers(node: Node, loc: Loc, complaints: list[Complaint]) -> list[Matcher]:
    if not isinstance(node, dict):
        return [Equals(_operand(node))]
    if not node:
        complaints.append(Complaint(f"no matcher here; accepted: {_FORMS}", loc))
    found = [_matcher(word, inner, (*loc, word), complaints) for word, inner in node.items()]
    return [matcher for matcher in found if matcher is not None]


def _matcher(word: str, node: Node, loc: Loc, complaints: list[Complaint]) -> Matcher | None:
    try:
        return _read(word, node, loc, complaints)
    except (_Unreadable, PatternError) as error:
        complaints.append(Complaint(str(error), loc))
        return None


class _Unreadable(ValueError):
    """A matcher whose value does not fit it."""


def _read(word: str, node: Node, loc: Loc, complaints: list[Complaint]) -> Matcher | None:
    match word:
        case "equals" | "is":
            return Equals(_operand(node))
        case "contains":
            return Contains(_operand(node))
        case "matches":
            return Matches(compiled(_words(node, "a regular expression")))
        case "exists":
            return _if_true(node, Exists())
        case "absent" | "missing":
            return _if_true(node, Absent())
        case "<" | "<=" | ">" | ">=":
            return Compares(word, _number(node))
        case "in":
            return In(_list(node))
        case "not":
            inner = _matchers(node, loc, complaints)
            if len(inner) > 1:
                raise _Unreadable("one matcher can be negated; write two nots")
            return Not(inner[0]) if inner else None
        case _:
            message = f"{word!r} is no matcher; accepted: {_FORMS}; a whole object is written equals: {{...}}"
            raise _Unreadable(message)


def _reply_matcher(node: Node, loc: Loc, complaints: list[Complaint]) -> Matcher | None:
    forms: dict[str, Callable[[Operand], Matcher]] = {"contains": Contains, "is": Contains, "equals": Equals}
    if not isinstance(node, dict) or len(node) != 1:
        complaints.append(Complaint(f"expected one matcher, found {kind(node)}; accepted: {_REPLY_FORMS}", loc))
        return None
    [(word, inner)] = node.items()
    loc = (*loc, word)
    if word == "not":
        negated = _reply_matcher(inner, loc, complaints)
        return Not(negated) if negated is not None else None
    try:
        if word == "matches":
            return Matches(compiled(_words(inner, "a regular expression")))
        if word in forms:
            text = _words(inner, "a text")
            return forms[word](Operand(text, text))
        raise _Unreadable(f"{word!r} is no matcher of the reply; accepted: {_REPLY_FORMS}")
    except (_Unreadable, PatternError) as error:
        complaints.append(Complaint(str(error), loc))
        return None


def _operand(node: Node) -> Operand:
    """Keeps a number's text where prose would read it the same: `1.10` also accepts the string "1.10"."""
    if isinstance(node, Scalar) and type(literal(node.text)) is type(node.value) and literal(node.text) == node.value:
        return Operand(node.value, node.text)
    return operand(value(node))


def _words(node: Node, wanted: str) -> str:
    text = node.text if isinstance(node, Scalar) and node.value is not None else node
    if not isinstance(text, str) or not text:
        raise _Unreadable(f"expected {wanted}, found {kind(node)}")
    return text


def _if_true(node: Node, matcher: Matcher) -> Matcher:
    if value(node) is not True:
        raise _Unreadable(f"expected true, found {kind(node)}; accepted: exists: true, absent: true")
    return matcher


def _number(node: Node) -> Operand:
    number = value(node)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise _Unreadable(f"expected a number, found {kind(node)}")
    return _operand(node)


def _list(node: Node) -> tuple[Operand, ...]:
    if not isinstance(node, list) or not node:
        raise _Unreadable(f"expected a list with at least one value, found {kind(node)}")
    return tuple(_operand(each) for each in node)
