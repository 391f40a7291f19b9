"""Regular expressions of specs: compiled when the spec is read, and refused when they could run for ever.

Python's `re` cannot be interrupted. The classic trap is a repetition of a repetition with nothing between two rounds,
`(a+)+` or `(\\w*\\s?)*`: exponential in the text. Those are refused; quadratic patterns are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_QUANTIFIER = re.compile(r"[*+?]|\{\d*,?\d*\}")


class PatternError(ValueError):
    """A regular expression cannot be used; the message says why and what to write instead."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, ready for use.

    Raises PatternError if it does not compile or could take exponential time.
    """
    try:
        result = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"bad regular expression {pattern!r}: {error}") from error
    if _explosive(pattern):
        raise PatternError(
            f"regular expression {pattern!r} repeats a repetition with nothing fixed between, "
            "which can take for ever; put something fixed between two rounds or drop one repetition"
        )
    return result


@dataclass(slots=True)
class _Group:
    """What is known of a group while its text is read; `unbounded` and `fixed` are of the branch being read."""

    unbounded: bool = False
    """The branch holds an unbounded repetition."""
    fixed: bool = False
    """The branch holds something outside such a repetition that must be there."""
    loose: bool = False
    """Some branch is unbounded and has nothing fixed."""
    firm: bool = True
    """Every branch has something fixed."""

    def end_branch(self) -> None:
        self.loose |= self.unbounded and not self.fixed
        self.firm &= self.fixed
        self.unbounded = self.fixed = False


def _explosive(pattern: str) -> bool:
    groups = [_Group()]
    for atom, repeat in _atoms(pattern):
        match atom:
            case "(":
                groups.append(_Group())
            case "|":
                groups[-1].end_branch()
            case ")":
                inner = groups.pop()
                inner.end_branch()
                if inner.loose and repeat == "many":
                    return True
                groups[-1].unbounded |= inner.loose or repeat == "many"
                groups[-1].fixed |= inner.firm and repeat == "once"
            case _:
                groups[-1].unbounded |= repeat == "many"
                groups[-1].fixed |= atom == "x" and repeat == "once"
    return False


def _atoms(pattern: str) -> list[tuple[str, str]]:
    """The pattern's atoms with how often each stands: `once`, `maybe` or `many`."""
    atoms: list[tuple[str, str]] = []
    here = 0
    while here < len(pattern):
        atom, here = _atom(pattern, here)
        found = _QUANTIFIER.match(pattern, here) if atom not in ("(", "|") else None
        repeat = _repeat(found.group()) if found else "once"
        if found:
            here = found.end()
            if pattern[here : here + 1] in ("?", "+"):  # lazy or possessive
                here += 1
        atoms.append((atom, repeat))
    return atoms


def _atom(pattern: str, here: int) -> tuple[str, int]:
    if pattern[here] == "\\":
        return "x", here + 2
    if pattern[here] == "[":
        return "x", _class_end(pattern, here)
    if pattern[here] == "(":
        opening = re.compile(r"\((\?(P?<[^=!>][^>]*>|P=\w+|#[^)]*|[aiLmsux-]*:|<?[=!]|>)?)?").match(pattern, here)
        return "(", opening.end() if opening else here + 1
    return pattern[here] if pattern[here] in ")|^$" else "x", here + 1


def _class_end(pattern: str, here: int) -> int:
    end = here + 1
    if pattern[end : end + 1] == "^":
        end += 1
    if pattern[end : end + 1] == "]":
        end += 1
    while end < len(pattern) and pattern[end] != "]":
        end += 2 if pattern[end] == "\\" else 1
    return end + 1


def _repeat(quantifier: str) -> str:
    if quantifier in ("*", "+") or quantifier.endswith(",}"):
        return "many"
    low = quantifier.strip("{}").split(",")[0]
    return "maybe" if quantifier == "?" or low in ("", "0") else "once"
