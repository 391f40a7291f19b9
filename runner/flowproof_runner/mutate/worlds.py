"""Neighbouring worlds in which the agent is right: whatever a contract finds there is a false alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from flowproof_addons import FlowproofError
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.file import ContractFile
from flowproof_runner.contract.fixture_file import FixtureReader
from flowproof_runner.contract.run import ContractRun, run
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.contract.view import View
from flowproof_runner.findings import Finding
from flowproof_runner.matchers.matchers import subset
from flowproof_runner.mutate.equivalence import Fingerprint, equivalent
from flowproof_runner.mutate.score import reading
from flowproof_runner.reading import errors
from flowproof_runner.reading.fields import Flag, Json, Part, Whole, Words
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.reading.reader import read


class WorldsError(FlowproofError):
    """A folder of worlds cannot be used."""


class Correct(Part):
    """What shows that the agent did right in this world, independent of the contract."""

    status: Words = "completed"
    calls: dict[str, Annotated[Whole, Field(ge=0)]] = Field(default_factory=dict)
    output: Json = None
    equivalent: Flag = False
    """It did what it does in the contract's own world, in another order."""


class World(Part):
    """One neighbouring world."""

    about: Words
    fixtures: dict[str, Json] = Field(default_factory=dict)
    arguments: tuple[Words, ...] = ()
    """Added to the agent's command: another way of being right."""
    data: Json = None
    correct: Correct


@dataclass(frozen=True, slots=True)
class Visit:
    """What came of one world."""

    name: str
    about: str
    verdict: Literal["accepted", "false alarm", "invalid"]
    """`invalid`: the agent was not right there, so the world says nothing about the contract."""
    why: str = ""
    findings: tuple[Finding, ...] = ()


def visit_all(file: ContractFile, command: Sequence[str], folder: Path, baseline: Evidence) -> tuple[Visit, ...]:
    """Run the agent in every world of a folder under the unchanged contract. Raises WorldsError, SpecError."""
    paths = sorted(path for path in folder.glob("*.y*ml"))
    if not paths:
        raise WorldsError(f"{folder} holds no world: one *.yml each, with about and correct")
    words = tuple(command) or file.command
    return tuple(_visit(path.stem, load(path), path, file, words, baseline) for path in paths)


def load(path: Path) -> World:
    """Read a world. Raises SpecError with every problem."""
    document = read(path.read_text("utf-8"), str(path))
    try:
        return World.model_validate(document.root)
    except ValidationError as error:
        raise SpecError(errors.problems(error, document, World)) from error


def _visit(
    name: str, world: World, path: Path, file: ContractFile, words: tuple[str, ...], baseline: Evidence
) -> Visit:
    reader = FixtureReader(path.parent)
    fixtures = {tool: reader.cases(node) for tool, node in world.fixtures.items()}
    if reader.complaints:
        raise WorldsError(f"{path}: {'; '.join(each.message for each in reader.complaints)}")
    data = file.data if "data" not in world.model_fields_set else world.data
    there = replace(file, fixtures={**file.fixtures, **fixtures}, data=data)
    ran = run(there, (*words, *world.arguments))
    wrong = _wrong(world.correct, ran, baseline, file.reads)
    if wrong:
        return Visit(name, world.about, "invalid", wrong, ran.findings)
    return Visit(name, world.about, "false alarm" if ran.findings else "accepted", "", ran.findings)


def _wrong(correct: Correct, ran: ContractRun, baseline: Evidence, reads: frozenset[str]) -> str:
    """How the agent was not right, empty if it was."""
    if ran.broken:
        return next(f.message for f in ran.findings if f.id == "runtime.execution")
    view = View(ran.evidence)
    if view.status != correct.status:
        return f"ended as {view.status!r}, expected {correct.status!r}"
    for tool, times in correct.calls.items():
        made = len(view.by_tool.get(tool, ()))
        if made != times:
            return f"{tool} was called {made} times, expected {times}"
    output: JsonValue = view.outcome.output if view.outcome is not None else None
    if correct.output is not None and not subset(correct.output, output):
        return "the outcome is not the expected one"
    return _differs(ran.evidence, baseline, reads) if correct.equivalent else ""


def _differs(evidence: Evidence, baseline: Evidence, reads: frozenset[str]) -> str:
    known = reads | reading(baseline)
    same = equivalent(Fingerprint.of(baseline, known), Fingerprint.of(evidence, known))
    return "" if same else "did something else than in the contract's own world"
