"""Runs in a few words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import AnyEvent, Asked, Decided, Dispatched, Evidence, Replied, Returned, Told
from flowproof_runner.evidence.names import aliases
from flowproof_runner.expectations.ast import PlacedStep, Step
from flowproof_runner.expectations.judge import judge
from flowproof_runner.expectations.judgement import Judgement
from flowproof_runner.spec.steps import StepEntry


@dataclass
class Run:
    """Builds evidence turn by turn."""

    offers: tuple[str, ...] = ()
    lanes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    events: list[AnyEvent] = field(default_factory=list)
    turns: int = 0

    def turn(self, *calls: tuple[str, JsonValue], text: str | None = None, status: int = 200) -> Run:
        """One model turn that asks for these tools."""
        self.turns += 1
        self.events.append(
            Asked(seq=0, lane="model", turn=self.turns, dialect="d", model="m", thread="t", tools=self.offers)
        )
        self.events.append(
            Replied(seq=0, lane="model", turn=self.turns, thread="t", status=status, text=text, model="m")
        )
        for number, (tool, arguments) in enumerate(calls):
            self.events.append(
                Decided(
                    seq=0,
                    lane="model",
                    turn=self.turns,
                    call=f"{self.turns}.{number}",
                    tool=tool,
                    arguments=arguments,
                    arguments_text="",
                    thread="t",
                    group=self.turns,
                )
            )
        return self

    def told(self, call: str, tool: str, result: JsonValue, *, is_error: bool = False) -> Run:
        """The next request carries a result."""
        self.events.append(Told(seq=0, lane="model", call=call, tool=tool, result=result, is_error=is_error))
        return self

    def sent(self, lane: str, tool: str, arguments: JsonValue, call: str = "x", result: JsonValue = None) -> Run:
        """A call reaches a server and comes back."""
        self.events.append(Dispatched(seq=0, lane=lane, call=call, tool=tool, arguments=arguments))
        self.events.append(Returned(seq=0, lane=lane, call=call, tool=tool, result=result))
        return self

    def evidence(self, *, complete: bool = True) -> Evidence:
        """What was observed."""
        numbers = count()
        events = tuple(replace(event, seq=next(numbers)) for event in self.events)
        lane_of = {name: lane for lane, tools in self.lanes.items() for tool in tools for name in aliases(lane, tool)}
        return Evidence(events, frozenset(self.lanes), lane_of, complete=complete)


type Judge = Callable[..., Judgement]


@pytest.fixture
def run() -> type[Run]:
    return Run


@pytest.fixture
def judged() -> Judge:
    """Judges evidence by steps written as they stand in a spec: `{"assert": "reply contains x"}`."""

    def by(evidence: Evidence, *steps: dict[str, JsonValue], strict: bool = False) -> Judgement:
        placed = [PlacedStep(_step(step), number, f"f:{number}") for number, step in enumerate(steps, 1)]
        return judge(placed, evidence, strict="f:99" if strict else None)

    def _step(step: dict[str, JsonValue]) -> Step:
        return StepEntry.model_validate(step).step

    return by
