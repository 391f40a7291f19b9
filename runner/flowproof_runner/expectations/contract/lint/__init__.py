"""What is wrong with a contract before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flowproof_runner.expectations.contract.lint import counts, order, references, values
from flowproof_runner.expectations.contract.lint.facts import Facts, problem
from flowproof_runner.expectations.contract.model import Calls, Confirmation, Contract
from flowproof_runner.findings import Finding


def lint(contract: Contract, *, fixtures: Mapping[str, int] | None = None, prompts: int = 1) -> tuple[Finding, ...]:
    """Contradictions, and expectations that can never be met or never fail; each is a problem of the contract.

    `fixtures`: number of answers for each tool, where nothing else answers calls; None if that is not known.
    `prompts`: how often the user speaks.
    """
    facts = Facts.of(contract)
    return (
        *counts.lint(facts),
        *order.lint(facts),
        *references.lint(facts),
        *values.lint(facts),
        *_unsaid(contract, prompts),
        *(_unanswered(facts, fixtures) if fixtures is not None else ()),
    )


def enforceable(contract: Contract) -> str | None:
    """Why enforcing this contract would refuse nothing, None if it would."""
    forbidden = {
        tool for e in contract.expectations if isinstance(e, Calls) and e.kind == "forbidden" for tool in e.tools
    }
    protected = {e.tool for e in contract.expectations if isinstance(e, Confirmation)}
    if not forbidden and not protected:
        return "nothing is forbidden and nothing needs an approval, so there is nothing to enforce"
    if protected and protected <= forbidden:
        return "every tool that needs an approval is forbidden anyway"
    return None


def _unsaid(contract: Contract, prompts: int) -> Iterator[Finding]:
    for e in contract.expectations:
        if not isinstance(e, Confirmation):
            continue
        for number in (*e.prompts, *((e.until,) if e.until is not None else ())):
            if number > prompts:
                yield problem(e, "lint.prompt", f"there is no prompt {number}: the user speaks {prompts} times")
        if e.until is not None and e.until <= min(e.prompts):
            yield problem(e, "lint.prompt", f"prompt {e.until} takes back what was not said yet")


def _unanswered(facts: Facts, fixtures: Mapping[str, int]) -> Iterator[Finding]:
    for tool, expectation in facts.required.items():
        if tool not in fixtures:
            yield problem(expectation, "lint.unanswered", f"{tool} must be called, but no fixture answers it")
