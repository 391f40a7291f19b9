"""Matchers and values in words: for reports, for `check --explain`, and so that prose reads back as what it was."""

from __future__ import annotations

import re
from typing import assert_never

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.ast import (
    CallAssertion,
    Clause,
    Kind,
    NoEgress,
    NoSecretLeak,
    NoSideEffect,
    Prompt,
    ReplyAssertion,
    Step,
)
from flowproof_runner.matchers.matchers import (
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
from flowproof_runner.matchers.path import Missing, quote


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


def step_words(step: Step) -> str:
    """A step as one line, in the prose grammar where it has the words."""
    match step:
        case Prompt(text=text):
            return f"prompt: {text}"
        case CallAssertion():
            return f"{KEYS[step.kind]}: {call_words(step)}"
        case ReplyAssertion(matcher=matcher):
            return f"assert: reply {reply_words(matcher)}"
        case NoEgress():
            return "assert_no_egress"
        case NoSideEffect(allowed=()):
            return "assert_no_side_effect: fs_write"
        case NoSideEffect(allowed=allowed):
            return f"assert_no_side_effect: fs_write except {', '.join(allowed)}"
        case NoSecretLeak(variables=variables):
            return f"assert_no_secret_leak: {', '.join(f'${{{name}}}' for name in variables)}"
        case _:
            assert_never(step)


def call_words(assertion: CallAssertion) -> str:
    """Which calls an assertion describes: `search_flights where destination contains NBO`."""
    clauses = " and ".join(clause_words(clause) for clause in assertion.clauses)
    where = f" where {clauses}" if clauses else ""
    times = f", {assertion.times} times" if assertion.times else ""
    at = f", at {assertion.at}" if assertion.at else ""
    return f"{assertion.tool}{where}{times}{at}"


def reply_words(matcher: Matcher) -> str:
    """What is demanded of the reply; its text needs no quotes to stay text."""
    match matcher:
        case Contains(operand=wanted):
            return f"contains {_to_the_end(wanted.text)}"
        case Equals(operand=wanted):
            return f"equals {_to_the_end(wanted.text)}"
        case Matches(pattern=pattern):
            return f"matches {_to_the_end(pattern.pattern)}"
        case Not(matcher=inner):
            return f"not {reply_words(inner)}"
        case _:
            return words(matcher)


def _to_the_end(text: str) -> str:
    return text if text and text == text.strip() and not text.startswith('"') else quote(text)


KEYS: dict[Kind, str] = {
    "call": "assert_tool_call",
    "no_call": "assert_no_tool_call",
    "request": "assert_tool_request",
    "no_request": "assert_no_tool_request",
}
"""The step's key in a spec."""


def clause_words(clause: Clause) -> str:
    """A clause in the prose grammar."""
    return f"{subject_words(clause)} {words(clause.matcher)}".lstrip()


def subject_words(clause: Clause) -> str:
    """What a clause looks at; empty for the arguments as a whole."""
    path = str(clause.path)
    match clause.subject:
        case "arguments":
            return '"result"' + path.removeprefix("result") if clause.path.segments[:1] == ("result",) else path
        case "result":
            return f"result.{path}" if path else "result"
        case "is_error":
            return "result.is_error"
