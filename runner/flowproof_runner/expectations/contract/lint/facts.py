"""What a contract says of each tool, gathered for the checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import AnyExpectation, Calls, Contract, Each, Order
from flowproof_runner.findings import Finding


@dataclass(frozen=True, slots=True)
class Facts:
    """Unconditional statements of a contract, by tool."""

    contract: Contract
    forbidden: dict[str, AnyExpectation] = field(default_factory=dict)
    required: dict[str, AnyExpectation] = field(default_factory=dict)
    floor: dict[str, int] = field(default_factory=dict)
    ceiling: dict[str, int] = field(default_factory=dict)
    total: int | None = None
    """Ceiling over all calls."""
    total_floor: int = 0
    """Floor over all calls."""
    orders: tuple[Order, ...] = ()

    @staticmethod
    def of(contract: Contract) -> Facts:
        """The facts of one contract."""
        facts = Facts(
            contract,
            total=min(
                (e.at_most for e in _calls(contract) if not e.tools and _plain(e) and e.at_most is not None),
                default=None,
            ),
            total_floor=max((e.at_least or 0 for e in _calls(contract) if not e.tools and _plain(e)), default=0),
            orders=tuple(e for e in contract.expectations if isinstance(e, Order)),
        )
        for expectation in _calls(contract):
            if len(expectation.tools) == 1 and _plain(expectation):
                facts._note(expectation, expectation.tools[0])
            elif expectation.kind == "forbidden" and _plain(expectation):
                for tool in expectation.tools:
                    facts._note(expectation, tool)
        for order in facts.orders:
            for tool in order.tools:
                facts.required.setdefault(tool, order)
                facts.floor[tool] = max(facts.floor.get(tool, 0), order.tools.count(tool))
        return facts

    def _note(self, expectation: Calls, tool: str) -> None:
        if expectation.at_least:
            self.required.setdefault(tool, expectation)
            self.floor[tool] = max(self.floor.get(tool, 0), expectation.at_least)
        if expectation.at_most is not None:
            self.ceiling[tool] = min(self.ceiling.get(tool, expectation.at_most), expectation.at_most)
        if expectation.kind == "forbidden":
            self.forbidden.setdefault(tool, expectation)


def problem(expectation: AnyExpectation, id: str, message: str) -> Finding:
    """A finding about the contract itself."""
    return Finding(
        id=id,
        message=f"{message}: {line(expectation)}",
        kind="problem",
        where=expectation.where,
        path=expectation.id,
    )


def _calls(contract: Contract) -> Iterator[Calls]:
    return (e for e in contract.expectations if isinstance(e, Calls))


def _plain(expectation: Calls) -> bool:
    return expectation.such is None and expectation.when is None


def flat(contract: Contract) -> Iterator[AnyExpectation]:
    """Every expectation, those inside a `for:` included."""
    pending = list(contract.expectations)
    while pending:
        expectation = pending.pop(0)
        yield expectation
        if isinstance(expectation, Each):
            pending += expectation.body
