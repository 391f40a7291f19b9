"""The `flowproof` fixture."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from flowproof_runner.pytest_plugin.session import Flowing
from flowproof_runner.result import FlowResult


@dataclass(frozen=True, slots=True)
class Flowproof:
    """Replays and records flows from Python tests."""

    _flowing: Flowing
    _folder: Path
    """Specs are looked for from here."""

    def replay(self, spec: str | PathLike[str]) -> FlowResult:
        """Run the agent against the spec's cassette; never raises for what is wrong with spec or agent."""
        return self._flowing.run(self._folder / spec, "never")

    def record(self, spec: str | PathLike[str]) -> FlowResult:
        """Run the agent against the real model; the cassette is written if all holds."""
        return self._flowing.run(self._folder / spec, "all")

    def report(self, result: FlowResult) -> str:
        """What `flowproof run` would print: `assert result.verdict == "pass", flowproof.report(result)`."""
        return self._flowing.report(result)
