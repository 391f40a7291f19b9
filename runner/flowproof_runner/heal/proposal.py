"""A spec recorded anew, beside the recording it has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_addons.trace import file
from flowproof_runner.flow import cassette
from flowproof_runner.flow.flows import PROPOSAL, Flows
from flowproof_runner.heal.diffing import between
from flowproof_runner.result import FlowResult, StepResult
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.trajectory.change import Change, Difference
from flowproof_runner.trajectory.render import Item


@dataclass(frozen=True, slots=True)
class Proposal:
    """What recording again came to."""

    spec: Path
    result: FlowResult
    recorded: Path | None = None
    """The new recording; None where the flow did not hold, so that there is nothing to apply."""
    difference: Difference = field(default_factory=Difference)
    """From the cassette to the new recording, be it one that does not hold."""

    @property
    def items(self) -> list[Item]:
        """The changes, each with the assertions that name what changed."""
        return [(change, tuple(_naming(change, self.result.steps))) for change in self.difference.changes]

    def apply(self) -> None:
        """Make it the cassette, whole or not at all."""
        assert self.recorded is not None
        file.save(cassette.path_of(self.spec), file.load(self.recorded))


def propose(spec: LoadedSpec, flows: Flows, folder: Path) -> Proposal:
    """Record a spec again, into `folder`. Raises FlowproofError if it has no cassette that can be compared."""
    before = cassette.path_of(spec.path)
    file.load(before)  # before the model is asked
    result = flows.run(spec, "record", folder)
    trace, proposed = folder / "trace.json", folder / PROPOSAL
    found = between(before, trace) if trace.exists() else Difference()
    held = result.verdict == "pass" and proposed.exists()
    return Proposal(spec.path, result, proposed if held else None, found)


def _naming(change: Change, steps: Iterable[StepResult]) -> Iterable[str]:
    """The steps that name the tool, or the reply."""
    pattern = rf"(?<![\w-]){re.escape(change.tool)}(?![\w-])" if change.tool else r"^assert: reply\b|^reply\b"
    if change.tool or change.kind == "reply":
        for step in steps:
            if re.search(pattern, step.text):
                yield f"asserted by step {step.number}: {step.text}" + ("" if step.ok else ", which fails")
