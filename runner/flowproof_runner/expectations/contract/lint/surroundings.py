"""Expectations on what the run's surroundings can never give: answers, prompts, servers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from flowproof_runner.expectations.contract.lint.facts import Facts, flat, problem
from flowproof_runner.expectations.contract.model import AnyExpectation, Confirmation, Lane, Precedence
from flowproof_runner.expectations.contract.terms import Results
from flowproof_runner.expectations.contract.walk import nodes_of
from flowproof_runner.findings import Finding


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of a run before it starts; None where nothing is."""

    answered: Collection[str] | None = None
    """The tools that anything answers."""
    prompts: int = 1
    """How often the user speaks."""
    servers: Collection[str] | None = None
    adapter: bool | None = None
    """Whether the agent is an adapter, which can tell of approvals."""


def lint(facts: Facts, around: Surroundings) -> Iterator[Finding]:
    """Tools, prompts, servers and approvals that will never be met."""
    for expectation in flat(facts.contract):
        if isinstance(expectation, Confirmation):
            yield from _approval(expectation, around)
        if isinstance(expectation, Lane) and expectation.server and around.servers is not None:
            yield from _server(expectation, around.servers)
        if around.answered is not None:
            yield from _unanswered(facts, expectation, around.answered)


def _approval(e: Confirmation, around: Surroundings) -> Iterator[Finding]:
    for number in (*e.prompts, *((e.until,) if e.until is not None else ())):
        if number > around.prompts:
            message = f"there is no prompt {number}: the user speaks {around.prompts} times"
            yield problem(e, "lint.prompt", message)
    if e.until is not None and e.until <= min(e.prompts):
        yield problem(e, "lint.prompt", f"prompt {e.until} takes back what was not said yet")
    if e.by == "adapter" and around.adapter is False:
        yield problem(e, "lint.approval", "there is no adapter that could tell of an approval: agent.adapter")
    if e.by == "elicitation" and around.servers is not None and not around.servers:
        yield problem(e, "lint.approval", "there is no server that could ask: mcp")


def _server(e: Lane, servers: Collection[str]) -> Iterator[Finding]:
    if e.server not in servers:
        known = ", ".join(sorted(servers)) or "none is declared"
        yield problem(e, "lint.server", f"{e.server} is no server under mcp; declared: {known}")


def _unanswered(facts: Facts, expectation: AnyExpectation, answered: Collection[str]) -> Iterator[Finding]:
    for tool, demanding in facts.required.items():
        if tool not in answered and demanding is expectation:
            yield problem(expectation, "lint.unanswered", f"{tool} must be called, but no fixture answers it")
    needed = [term.tool for term in nodes_of(expectation) if isinstance(term, Results)]
    if isinstance(expectation, Confirmation) and expectation.by not in ("any", "adapter", "elicitation", "prompt"):
        needed.append(expectation.by)
    if isinstance(expectation, Precedence) and expectation.required and expectation.scope == "informed":
        needed.append(expectation.before)
    for tool in dict.fromkeys(needed):
        if tool not in answered:
            yield problem(expectation, "lint.unanswered", f"no fixture answers {tool}, so it never has a value")
