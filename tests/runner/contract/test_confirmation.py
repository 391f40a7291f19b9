"""Approvals from every source: one for each call, given before it, for what it carries, and not taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from flowproof_addons.dialects.registry import assembled
from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp.lane import Call, Frame, Lane
from flowproof_addons.trace.model import JsonValue, Trace
from flowproof_runner.contract.of_spec import contract_of
from flowproof_runner.contract.recorded import evidence_of
from flowproof_runner.evidence.build import build
from flowproof_runner.evidence.model import AnyEvent, Decided, Dispatched, Evidence, Returned
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.lint import Surroundings, lint
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.findings import Exit, exit_code
from flowproof_runner.flow import cassette
from flowproof_runner.mcp.evidence import reader
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.spec.file import load

CONVERSATION = Path(__file__).parents[3] / "specs" / "conversation.flow.yaml"

type Play = Callable[[list[tuple[object, ...]]], Evidence]
type Build = Callable[..., Contract]

ONE: dict[str, JsonValue] = {"n": 1}
TWO: dict[str, JsonValue] = {"n": 2}


def verdict(contract: Contract, evidence: Evidence) -> Exit:
    findings = evaluate(contract, evidence)
    assert {found.id for found in findings} <= {"safety.confirmation_required"}
    return exit_code(findings)


@dataclass(frozen=True)
class Source:
    """Says yes or no to paying with these arguments, and pays."""

    id: str
    line: str

    def run(self, play: Play, *steps: str) -> Evidence:
        raise NotImplementedError


class Adapter(Source):
    def run(self, play: Play, *steps: str) -> Evidence:
        return play([self._step(step) for step in steps])

    def _step(self, step: str) -> tuple[object, ...]:
        arguments = TWO if step.endswith("2") else ONE
        if step.startswith("pay"):
            return ("call", "pay", arguments, None)
        return ("confirm", "pay", arguments, step.startswith("yes"))


class AskingTool(Adapter):
    def _step(self, step: str) -> tuple[object, ...]:
        if step.startswith("pay"):
            return super()._step(step)
        arguments = {"question": "Really?", "arguments": TWO if step.endswith("2") else ONE}
        return ("call", "ask", arguments, {"approved": step.startswith("yes")})


SOURCES = [
    Adapter("adapter", "pay needs adapter approved with same arguments"),
    Adapter("anybody", "pay needs confirmation with same arguments"),
    AskingTool("asking tool", "pay needs ask approved with same arguments"),
]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.id)
@pytest.mark.parametrize(
    ("steps", "exit"),
    [
        ("yes pay", Exit.PASS),
        ("pay", Exit.CRITICAL),
        ("pay yes", Exit.CRITICAL),
        ("no pay", Exit.CRITICAL),
        ("yes pay pay", Exit.CRITICAL),
        ("yes yes pay pay", Exit.PASS),
        ("yes pay yes pay", Exit.PASS),
        ("yes2 pay", Exit.CRITICAL),
        ("yes2 yes pay pay2", Exit.PASS),
        ("yes no pay", Exit.CRITICAL),
        ("no yes pay", Exit.PASS),
        ("yes no2 pay", Exit.PASS),
        ("yes pay no pay", Exit.CRITICAL),
    ],
)
def test_an_approval_is_for_one_call_with_these_arguments_until_it_is_taken_back(
    source: Source, steps: str, exit: Exit, contract: Build, play: Play
) -> None:
    assert verdict(contract(confirm=[source.line]), source.run(play, *steps.split())) == exit


def during(action: str, opened: int, arguments: dict[str, JsonValue], era: str) -> Iterator[Call]:
    """A call that a server asked about: by a request of its own, or (since 2026) by asking for the call again."""
    params: dict[str, JsonValue] = {"name": "pay", "arguments": arguments}
    done: dict[str, JsonValue] = {"result": {"content": []}}
    if era == "request":
        question = Frame(
            at=opened + 1,
            message={"method": "elicitation/create", "params": {"message": "Really?"}},
            answer={"result": {"action": action}},
            answered=opened + 2,
        )
        yield Call(
            method="tools/call", params=params, opened=opened, closed=opened + 3, frames=(question,), outcome=done
        )
        return
    wanted: JsonValue = {"resultType": "input_required", "inputRequests": {"q": {"method": "elicitation/create"}}}
    answered: dict[str, JsonValue] = {**params, "inputResponses": {"q": {"action": action}}, "requestState": "s"}
    yield Call(method="tools/call", params=params, opened=opened, closed=opened + 1, outcome={"result": wanted})
    yield Call(method="tools/call", params=answered, opened=opened + 2, closed=opened + 3, outcome=done)


@pytest.mark.parametrize("era", ["request", "input required"])
@pytest.mark.parametrize(
    ("asked", "exit"),
    [
        ([("accept", ONE)], Exit.PASS),
        ([("decline", ONE)], Exit.CRITICAL),
        ([("cancel", ONE)], Exit.CRITICAL),
        ([("accept", ONE), ("accept", TWO)], Exit.PASS),
        ([("accept", ONE), ("decline", ONE)], Exit.CRITICAL),
        ([("decline", ONE), ("accept", ONE)], Exit.CRITICAL),
    ],
)
def test_what_a_server_asks_about_a_call_is_for_that_call(
    era: str, asked: list[tuple[str, dict[str, JsonValue]]], exit: Exit, contract: Build
) -> None:
    calls = [
        call for at, (action, arguments) in enumerate(asked) for call in during(action, 1 + 10 * at, arguments, era)
    ]
    evidence = build(Trace("", "", ""), assembled(()), lanes=(reader("web", lane_file.dump(Lane(calls=tuple(calls)))),))
    assert verdict(contract(confirm=["web.pay needs elicitation approved with same arguments"]), evidence) == exit


def said(play: Play, *turns: str) -> Evidence:
    """A run in which each user turn led to these calls of the tool `pay`."""
    events: list[AnyEvent] = []
    for number, calls in enumerate(turns, 1):
        steps: list[tuple[object, ...]] = [("call", "look", {}, None)]
        steps += [("call", "pay", {"n": int(each)}, None) for each in calls.split()]
        for event in play(steps).events:
            assert isinstance(event, Decided | Dispatched | Returned)
            events.append(replace(event, user_turn=number, call=f"{number}.{event.call}"))
    return Evidence(tuple(replace(e, seq=n) for n, e in enumerate(events)), frozenset({"adapter"}))


@pytest.mark.parametrize(
    ("line", "turns", "exit"),
    [
        ("pay needs prompt 2", ["", "1"], Exit.PASS),
        ("pay needs prompt 2", ["1", ""], Exit.CRITICAL),
        ("pay needs prompt 2", ["", "", "1"], Exit.PASS),
        ("pay needs prompt 2", ["", "1 1"], Exit.CRITICAL),
        ("pay needs prompt 2", ["", "1", "1"], Exit.CRITICAL),
        ("pay needs prompt 2 or 3", ["", "1", "1"], Exit.PASS),
        ("pay needs prompt 2 or 3", ["", "1 1", ""], Exit.CRITICAL),
        ("pay needs prompt 2 where n equals 1", ["", "1"], Exit.PASS),
        ("pay needs prompt 2 where n equals 1", ["", "2"], Exit.CRITICAL),
        ("pay needs prompt 1 until prompt 2", ["1", ""], Exit.PASS),
        ("pay needs prompt 1 until prompt 2", ["", "1"], Exit.CRITICAL),
    ],
)
def test_what_the_user_says_is_a_yes_to_one_call_that_comes_of_it(
    line: str, turns: list[str], exit: Exit, contract: Build, play: Play
) -> None:
    assert verdict(contract(confirm=[line]), said(play, *turns)) == exit


def test_the_one_task_of_a_flow_is_prompt_1(contract: Build, play: Play) -> None:
    pay = ("call", "pay", ONE, None)
    assert verdict(contract(confirm=["pay needs prompt 1"]), play([pay])) == Exit.PASS
    assert verdict(contract(confirm=["pay needs prompt 1"]), play([pay, pay])) == Exit.CRITICAL
    assert verdict(contract(confirm=["pay needs prompt 1 where n equals 2"]), play([pay])) == Exit.CRITICAL


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("pay needs prompt 3", "there is no prompt 3: the user speaks 2 times"),
        ("pay needs prompt 1 until prompt 3", "there is no prompt 3"),
        ("pay needs prompt 2 until prompt 1", "takes back what was not said yet"),
        ("pay needs prompt 1 until prompt 2", ""),
    ],
)
def test_prompts_that_never_come_are_found_at_load(line: str, problem: str, contract: Build) -> None:
    found = [each.message for each in lint(contract(confirm=[line]), Surroundings(prompts=2))]
    assert (found == []) if not problem else (problem in found[0])


@pytest.mark.parametrize(("prompt", "exit"), [("1", Exit.PASS), ("2", Exit.PASS), ("3", Exit.CRITICAL)])
def test_a_recorded_conversation_is_judged_by_what_the_user_had_said(tmp_path: Path, prompt: str, exit: Exit) -> None:
    path = tmp_path / CONVERSATION.name
    path.write_text(CONVERSATION.read_text() + f"expect: {{ confirm: [create_booking needs prompt {prompt}] }}\n")
    spec = load(path)
    recorded = cassette.load(load(CONVERSATION))
    assert verdict(contract_of(spec), evidence_of(spec, recorded)) == exit


def test_a_conversation_is_not_promised_more_than_is_said(tmp_path: Path) -> None:
    path = tmp_path / CONVERSATION.name
    path.write_text(CONVERSATION.read_text() + "expect: { confirm: [create_booking needs prompt 4] }\n")
    with pytest.raises(SpecError, match="there is no prompt 4"):
        contract_of(load(path))
