"""The values and conditions a contract speaks about, before anything has run.

A *term* stands for the values it can take in a run (none, one or several); a *formula* is a condition over terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from flowproof_addons.trace.model import JsonValue

type Operator = OneOf[
    "equals",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "contains",
    "includes",
    "matches",
    "exists",
    "is absent",
    "is empty",
    "same set as",
]
type Function = OneOf["count", "sum", "min", "max", "avg", "distinct"]
type Choice = OneOf["first", "latest", "every", "one"]
type Scope = OneOf["call", "out", "item", "args", "result", "each"]


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`[]`: every element of an array."""


@dataclass(frozen=True, slots=True)
class Filter:
    """`[id = $expenseId]`: the elements of an array that meet a condition."""

    condition: Formula


type Step = str | int | Wildcard | Filter


@dataclass(frozen=True, slots=True)
class Literal:
    """A value written in the contract."""

    value: JsonValue
    loose: bool = False
    """Written as bare prose: a number, boolean or null also accepts the string with its text."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A value at hand: an argument of the call under test, the outcome, an array's element, a `for:` variable."""

    scope: Scope
    path: tuple[Step, ...] = ()
    name: str = ""
    """The variable, for scope `each`."""


@dataclass(frozen=True, slots=True)
class Results:
    """What earlier calls of a tool answered, one value set for each answer that was known in time."""

    tool: str
    path: tuple[Step, ...] = ()
    index: int | None = None
    """Only the nth answer of the tool, from 0."""
    where: Formula | None = None
    """Over the producing call: `args.x` and `result.x`."""
    merged: bool = False
    """All answers as one collection, for totals over several calls."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What the run's calls of a tool passed, as one collection."""

    tool: str
    path: tuple[Step, ...] = ()
    where: Formula | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A number or list computed from each value set of a term."""

    function: Function
    of: Term


@dataclass(frozen=True, slots=True)
class Choose:
    """Which of several values count: the first, the latest, every one of them, or exactly one."""

    choice: Choice
    of: Term


@dataclass(frozen=True, slots=True)
class Successor:
    """The element `offset` places after an observed value in a declared order."""

    of: Term
    domain: tuple[JsonValue, ...]
    offset: int = 1


@dataclass(frozen=True, slots=True)
class Union:
    """The values of any of several terms."""

    terms: tuple[Term, ...]


type Term = Literal | Ref | Results | Arguments | Aggregate | Choose | Successor | Union


@dataclass(frozen=True, slots=True)
class Compare:
    """One comparison; it holds if any value on the right suits the left one."""

    left: Term
    operator: Operator
    right: Term | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds; no parts hold."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Some part holds."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Formula


type Formula = Compare | AllOf | AnyOf | Not

UNARY: frozenset[Operator] = frozenset({"exists", "is absent", "is empty"})
"""Operators without a right side."""


def conjunction(parts: list[Formula]) -> Formula:
    """One formula for several that must all hold."""
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def disjunction(parts: list[Formula]) -> Formula:
    """One formula for several of which one must hold."""
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))
