"""A small recorded run and its contract."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import (
    AnyEvent,
    Concluded,
    Confirmed,
    Decided,
    Dispatched,
    Evidence,
    Returned,
    Told,
)
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect
from flowproof_runner.expectations.contract.model import Contract

ORDERS: JsonValue = {"orders": [{"id": "A1", "amount": 10}, {"id": "B2", "amount": 20}]}


def adapter_run() -> Evidence:
    """Reads the orders, refunds both with approval, reports."""
    events: list[AnyEvent] = []

    def use(tool: str, arguments: JsonValue, result: JsonValue) -> None:
        id, seq = f"c{len(events)}", len(events)
        events.append(
            Decided(
                seq=seq,
                lane="adapter",
                call=id,
                tool=tool,
                arguments=arguments,
                arguments_text="",
                thread="",
                group=seq,
            )
        )
        events.append(Dispatched(seq=seq + 1, lane="adapter", call=id, tool=tool, arguments=arguments))
        events.append(Returned(seq=seq + 2, lane="adapter", call=id, tool=tool, result=result))

    use("list_orders", {"shop": "main"}, ORDERS)
    refunds: list[JsonValue] = [{"id": "A1", "amount": 10}, {"id": "B2", "amount": 20}]
    for approved in refunds:
        events.append(
            Confirmed(seq=len(events), lane="adapter", call=None, tool="refund", arguments=approved, granted=True)
        )
        use("refund", approved, {"ok": True})
    output: JsonValue = {"refunded": ["A1", "B2"], "total": 30}
    events.append(Concluded(seq=len(events), lane="adapter", status="completed", output=output))
    return Evidence(tuple(events), frozenset({"adapter"}))


def model_run() -> Evidence:
    """The same at the model boundary: two refunds asked for in one message."""
    events: list[AnyEvent] = []

    def decide(id: str, tool: str, arguments: JsonValue, group: int, known: tuple[str, ...]) -> None:
        events.append(
            Decided(
                seq=len(events),
                lane="model",
                call=id,
                tool=tool,
                arguments=arguments,
                arguments_text="",
                thread="t",
                group=group,
                known=known,
            )
        )

    def tell(id: str, tool: str, result: JsonValue) -> None:
        events.append(Told(seq=len(events), lane="model", call=id, tool=tool, result=result))

    decide("l", "list_orders", {"shop": "main"}, 1, ())
    tell("l", "list_orders", ORDERS)
    decide("a", "refund", {"id": "A1", "amount": 10}, 2, ("l",))
    decide("b", "refund", {"id": "B2", "amount": 20}, 2, ("l",))
    tell("a", "refund", {"ok": True})
    tell("b", "refund", {"ok": True})
    return Evidence(tuple(events))


@pytest.fixture
def recorded() -> Evidence:
    """An adapter's run."""
    return adapter_run()


@pytest.fixture
def modelled() -> Evidence:
    """A model-driven run."""
    return model_run()


@pytest.fixture
def contract() -> Callable[..., Contract]:
    """A contract from sections."""

    def build(**sections: object) -> Contract:
        found, complaints = compile_expect(Expect.model_validate(sections), ("list_orders", "refund"))
        assert complaints == ()
        return found

    return build
