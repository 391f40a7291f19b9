"""What is wrong with a contract before anything runs."""

from __future__ import annotations

from flowproof_runner.expectations.contract.lint import counts, order, references, surroundings, values
from flowproof_runner.expectations.contract.lint.facts import Facts
from flowproof_runner.expectations.contract.lint.surroundings import Surroundings
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.findings import Finding


def lint(contract: Contract, around: Surroundings | None = None) -> tuple[Finding, ...]:
    """Contradictions, and expectations that can never be met or never fail; each is a problem of the contract."""
    facts = Facts.of(contract)
    return (
        *counts.lint(facts),
        *order.lint(facts),
        *references.lint(facts),
        *values.lint(facts),
        *surroundings.lint(facts, around or Surroundings()),
    )


def enforceable(contract: Contract) -> str | None:
    """Why enforcing this contract would refuse nothing, None if it would."""
    forbidden = {tool for ban in contract.bans for tool in ban.tools}
    protected = {approval.tool for approval in contract.approvals}
    if not forbidden and not protected:
        return "nothing is forbidden and nothing needs an approval, so there is nothing to enforce"
    if protected and protected <= forbidden:
        return "every tool that needs an approval is forbidden anyway"
    return None


def place(id: str) -> tuple[str | int, ...]:
    """Where the expectation with this id stands: `each[0].expect[1]` is ("each", 0, "expect", 1)."""
    return tuple(int(step) if step.isdecimal() else step for step in id.replace("[", ".").replace("]", "").split("."))


__all__ = ["Surroundings", "enforceable", "lint", "place"]
