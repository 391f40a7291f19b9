"""One thing wrong, in the form every check, report and exit code uses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from flowproof_addons.trace.model import JsonValue

type Severity = Literal["error", "critical"]
type Verdict = Literal["pass", "fail", "error", "skip"]


class Exit(IntEnum):
    """Exit codes, the same for every command. 3 beats 2 beats 1."""

    PASS = 0
    FAILED = 1
    """A check failed."""
    UNUSABLE = 2
    """Bad spec, usage, protocol or machine problem."""
    CRITICAL = 3
    """Forbidden call dispatched, missing confirmation, undeclared egress, leaked secret."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that would have done."""

    value: JsonValue
    seq: int | None = None
    """The evidence event it was seen in; None: it stands in the contract."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """What came closest to being accepted, and what stood in its way."""

    value: JsonValue
    fails: tuple[str, ...]
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing wrong."""

    id: str
    """Stable, dotted: `model.divergence`, `tool.call.missing`, `egress.undeclared`."""
    message: str
    """One line a tired person understands: what was expected, what happened."""
    severity: Severity = "error"
    kind: Literal["check", "problem"] = "check"
    """`check`: the agent is wrong (exit 1 or 3). `problem`: the check could not be made (exit 2)."""
    where: str = ""
    """`file:line` of what it judges by, where there is one."""
    detail: str = ""
    """More lines: the diff, the candidates, what to do."""
    seq: int | None = None
    """The evidence event it stems from."""
    path: str = ""
    expected: JsonValue = None
    actual: JsonValue = None
    candidates: tuple[Candidate, ...] = ()
    """The first of the values that would have done, with where they were seen."""
    nearest: Nearest | None = None
    caused_by: str | None = None
    """Id of the finding that explains this one."""
    user_turn: int | None = None
    """In a conversation: the user turn it is about, from 1."""
    cause: str = ""
    """Equal for findings of different runs that have one cause, where that can be told."""


def exit_code(findings: tuple[Finding, ...] | list[Finding]) -> Exit:
    """The worst of the findings, as an exit code."""
    if any(f.severity == "critical" for f in findings):
        return Exit.CRITICAL
    if any(f.kind == "problem" for f in findings):
        return Exit.UNUSABLE
    return Exit.FAILED if findings else Exit.PASS
