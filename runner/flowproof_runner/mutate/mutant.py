"""One way in which an agent could be wrong."""

from __future__ import annotations

from dataclasses import dataclass

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.mutate.story import Use


@dataclass(frozen=True, slots=True)
class Mutant:
    """The run as a faulty agent would have made it."""

    id: str
    """`swap-arg:7:amount`: operator, number of the tool use, place."""
    text: str
    evidence: Evidence
    use: Use | None = None
    path: tuple[str | int, ...] = ()
    before: JsonValue = None
    after: JsonValue = None

    @property
    def operator(self) -> str:
        """The kind of fault."""
        return self.id.split(":", 1)[0]
