"""What would have killed a survivor: an expectation in the contract language, tried before it is told."""

from __future__ import annotations

from dataclasses import dataclass, field

from flowproof_runner.evidence.model import Evidence
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.language.grammar import read_line
from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.scanner import SyntaxProblem
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.mutate.mutant import Mutant
from flowproof_runner.mutate.operators import Material
from flowproof_runner.mutate.proposals import Line, proposals


@dataclass(slots=True)
class Advisor:
    """Tries proposals on the run as it was and on the mutant."""

    material: Material
    _tried: dict[Line, Contract | None] = field(default_factory=dict)
    """Contracts of one line that accept the run; None for lines that do not."""

    def suggestion(self, mutant: Mutant) -> str:
        """`section: line` that accepts the run and rejects the mutant; empty where no line does both."""
        for line in proposals(mutant, self.material):
            contract = self._accepting(line)
            if contract is not None and evaluate(contract, mutant.evidence):
                return f"{line[0]}: {line[1]}"
        return ""

    def _accepting(self, line: Line) -> Contract | None:
        if line not in self._tried:
            self._tried[line] = _compiled(line, self.material.story.evidence)
        return self._tried[line]


def _compiled(line: Line, run: Evidence) -> Contract | None:
    section, text = line
    try:
        contract = Contract(expectations=read_line(text, section, Names()))
    except SyntaxProblem:
        return None  # names and values that no line can say
    return None if evaluate(contract, run) else contract
