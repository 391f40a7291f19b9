"""A recorded flow's evidence and checks, for its mutants."""

from __future__ import annotations

from pathlib import Path

from flowproof_runner import cassette
from flowproof_runner.contract.of_spec import contract_of
from flowproof_runner.contract.recorded import evidence_of
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.judge import judge
from flowproof_runner.findings import Finding
from flowproof_runner.mutate.score import Subject
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
