"""What judging a run gives: findings, notes, and one result a step."""

from __future__ import annotations

from dataclasses import dataclass

from flowproof_runner.expectations.ast import PlacedStep
from flowproof_runner.findings import Finding


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader should know that fails nothing."""

    id: str
    message: str
    where: str = ""
    """`file:line`."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """How one step fared."""

    number: int
    """Position among all steps, from 1."""
    text: str
    """The step in words."""
    where: str
    """`file:line`."""
    passed: bool
    matched: tuple[int, ...] = ()
    """The evidence events it stands on, by `seq`: what it claimed, or what speaks against it."""
    note: str = ""
    """What happened, where that helps."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything judged of one run."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[Note, ...] = ()
    steps: tuple[StepResult, ...] = ()
    unjudged: tuple[PlacedStep, ...] = ()
    """Assertion steps that other engines judge; whoever asked must see to it that they do."""


@dataclass(frozen=True, slots=True)
class CallLimit:
    """A tool with `results:`: one call more than results is a failure."""

    tool: str
    results: int
    where: str
    """`file:line`."""
