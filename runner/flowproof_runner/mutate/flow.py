"""A recorded flow's evidence and checks, for its mutants."""

from __future__ import annotations

from pathlib import Path

from flowproof_runner.contract.of_spec import contract_of
from flowproof_runner.contract.recorded import evidence_of
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.judge import judge
from flowproof_runner.findings import Finding
from flowproof_runner.flow import cassette
from flowproof_runner.mutate.score import Subject
from flowproof_runner.mutate.worlds import Visit, WorldsError
from flowproof_runner.spec.file import load


def recorded(path: Path) -> tuple[Subject, Evidence]:
    """The checks of a spec (its steps and its `expect:`) and the evidence its cassette holds.

    Raises SpecError or CassetteError if either cannot be used.
    """
    spec = load(path)
    evidence = evidence_of(spec, cassette.load(spec))

    def steps(run: Evidence) -> tuple[Finding, ...]:
        return tuple(judge(spec.steps, run).findings)

    return Subject.of(contract_of(spec), evidence, steps), evidence


def visit_recordings(folder: Path, subject: Subject) -> tuple[Visit, ...]:
    """What the checks say of other recorded flows, each of which is right by its own spec.

    Raises WorldsError if there are none, SpecError or CassetteError if one cannot be used.
    """
    paths = sorted({*folder.glob("*.flow.yaml"), *folder.glob("*.flow.yml")})
    if not paths:
        raise WorldsError(f"{folder} holds no world: one recorded *.flow.yaml each, right by its own steps and expect")
    return tuple(_visit(path, subject) for path in paths)


def _visit(path: Path, subject: Subject) -> Visit:
    name, about = path.name.split(".")[0], load(path).spec.name
    own, evidence = recorded(path)
    wrong = own.checks(evidence)
    if wrong:
        return Visit(name, about, "invalid", wrong[0].message, wrong)
    findings = subject.checks(evidence)
    return Visit(name, about, "false alarm" if findings else "accepted", "", findings)
