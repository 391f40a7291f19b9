"""Fixtures: written answers of tools, picked by the number of the call and its arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers.backend import Answer, BackendContext, Discovery, NoSuchTool
from flowproof_runner.matchers.matchers import json_text, subset


@dataclass(frozen=True, slots=True)
class Case:
    """One answer, with the calls it is for; no selector: all that are left."""

    result: JsonValue
    call: int | None = None
    """Only the nth call of the tool, from 0."""
    arguments: Mapping[str, JsonValue] | None = None
    """Only calls whose arguments contain this."""
    is_error: bool = False

    def fits(self, call: int, arguments: Mapping[str, JsonValue]) -> bool:
        """True when the call is one this answer is for."""
        if self.call not in (None, call):
            return False
        return self.arguments is None or subset(dict(self.arguments), dict(arguments))


@dataclass
class Fixtures:
    """A backend of written answers, and what else should answer tools that have none."""

    cases: Mapping[str, Sequence[Case]]
    _calls: Counter[str] = field(default_factory=Counter)

    def start(self, context: BackendContext) -> Sequence[Discovery]:
        """There is nothing to start."""
        self._calls.clear()
        return ()

    def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Answer:
        """The first fitting answer; none fitting is an error of the tool and a finding, not the end of the run.

        Raises NoSuchTool if the tool has no fixture at all.
        """
        if tool not in self.cases:
            raise NoSuchTool(
                f"the agent called {tool!r}, but no fixture and no server answers it: add one, or correct the name"
            )
        number = self._calls[tool]
        self._calls[tool] += 1
        for case in self.cases[tool]:
            if case.fits(number, arguments):
                return Answer(case.result, is_error=case.is_error, source="fixture")
        message = f"no fixture of {tool} fits call {number + 1} with {json_text(dict(arguments))}"
        return Answer(
            {"error": "fixture_unmatched", "message": message}, is_error=True, source="fixture", fixture_miss=True
        )

    def close(self) -> None:
        """There is nothing to close."""
