"""A recorded flow's evidence and contract, for its mutants."""

from __future__ import annotations

from pathlib import Path

from flowproof_addons.dialects.registry import default
from flowproof_runner import cassette
from flowproof_runner.contract.events01 import from_rows
from flowproof_runner.contract.of_spec import contract_of
from flowproof_runner.evidence.adapter import with_adapter
from flowproof_runner.evidence.build import build
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.evidence.outcome import with_outcome
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.spec import session
from flowproof_runner.spec.file import load


def recorded(path: Path) -> tuple[Contract, Evidence]:
    """The contract of a spec and the evidence its cassette holds.

    Raises SpecError or CassetteError if either cannot be used.
    """
    spec = load(path)
    trace = cassette.load(spec)
    evidence = build(trace, default(), mocks=session.tool_mocks(spec.spec))
    conversation = trace.extra.get("adapter")
    if isinstance(conversation, list):
        evidence = with_adapter(evidence, from_rows(conversation, complete=True).events)
    output = spec.spec.agent.output
    if output is not None:
        evidence = with_outcome(evidence, output.kind, output.name)
    return contract_of(spec), evidence
