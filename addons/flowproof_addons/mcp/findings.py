"""What a lane finds wrong, told to the runner at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flowproof_addons.mcp.divergence import Divergence
from flowproof_addons.mcp.journal import Emit
from flowproof_addons.mcp.lane import Call
from flowproof_addons.mcp.policy import Local
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonValue

type Entry = dict[str, JsonValue]
"""`{id, message, kind?, detail?, …}`: the fields of the runner's Finding."""

_SHOWN = 5


@dataclass(slots=True)
class Findings:
    """One lane's findings."""

    server: str
    emit: Emit
    entries: list[Entry] = field(default_factory=list)
    diverged: Divergence | None = None

    def diverge(self, report: Divergence) -> None:
        """The agent left the recording; only the first time counts."""
        if self.diverged is not None:
            return
        self.diverged = report
        self.entries.append(
            {
                "id": "mcp.divergence",
                "message": report.message,
                "detail": "\n".join(str(d) for d in report.differences),
                "report": report.to_json(),
            }
        )
        self.emit({"event": "divergence", "report": report.to_json()})

    def local(self, answer: Local, recorded: Call | None = None) -> None:
        """The spec answered a call: it may lack a result for it, or say something else than when recorded."""
        if answer.problem:
            self.add("mcp.results.exhausted", answer.problem)
        elif recorded is not None and recorded.by == "spec" and not json_value.same(recorded.outcome, answer.outcome):
            named = f"mcp.{self.server}.tools: the declared result of {recorded.params.get('name')}"
            words = f"{named} was changed after the recording was made; record again, or heal"
            self.add("mcp.results.edited", words, problem=True)

    def unserved(self, calls: Sequence[str]) -> None:
        """Recorded calls the agent did not make."""
        shown = "; ".join(calls[:_SHOWN]) + ("; …" if len(calls) > _SHOWN else "")
        entry: Entry = {
            "id": "mcp.unserved",
            "message": f"mcp.{self.server}: {len(calls)} recorded call(s) were not made: {shown}",
        }
        if self.diverged is not None:
            entry["caused_by"] = "mcp.divergence"
        self.entries.append(entry)

    def add(self, id_: str, message: str, *, problem: bool = False, detail: str = "") -> None:
        """Anything else; `problem`: the check could not be made (exit 2)."""
        entry: Entry = {"id": id_, "message": message, "kind": "problem" if problem else "check", "detail": detail}
        if entry not in self.entries:
            self.entries.append(entry)
            self.emit({"event": "problem" if problem else "finding", "text": message})
