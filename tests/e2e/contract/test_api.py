"""flowproof from Python."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.api import (
    Answer,
    BackendContext,
    Discovery,
    Exit,
    FlowproofError,
    Redactor,
    ToolBackend,
    run_contract,
    run_flow,
)

SPECS = Path(__file__).parents[3] / "specs"

type Agent = Callable[..., list[str]]


class Service:
    """A backend that keeps its token out of the evidence."""

    def __init__(self) -> None:
        self.redactor = Redactor({}, ["token"])
        self.context: BackendContext | None = None
        self.calls: list[str] = []
        self.closed = 0

    def start(self, context: BackendContext) -> Sequence[Discovery]:
        self.context = context
        return ()

    def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Answer:
        self.calls.append(tool)
        result: JsonValue = {"id": "A", "amount": 5, "token": "t0p-s3cret"}
        return Answer(result, evidence_result=self.redactor.hide(result))

    def close(self) -> None:
        self.closed += 1


def test_a_contract_is_run_over_a_backend_of_ones_own(agent: Agent, shop: Path) -> None:
    service: ToolBackend = Service()
    assert isinstance(service, Service)
    result = run_contract("contract.yml", agent(), backend=service, reports=shop / "reports")
    assert result.passed, result.findings
    assert result.exit_code == Exit.PASS
    assert service.calls == ["order", "refund"]
    assert service.closed == 1
    assert "t0p-s3cret" not in result.paths[0].read_text()


def test_a_backend_cannot_change_what_it_is_shown(agent: Agent) -> None:
    service = Service()
    run_contract("contract.yml", agent(), backend=service)
    assert service.context is not None
    with pytest.raises(TypeError):
        service.context.fixtures["order"] = ()  # type: ignore[index]  # that is the point
    orders = service.context.fixtures["order"]
    with pytest.raises(TypeError):
        orders[0]["amount"] = 6  # type: ignore[index,call-overload]


def test_a_refused_call_never_reaches_the_backend(agent: Agent, shop: Path) -> None:
    contract = shop / "contract.yml"
    contract.write_text(contract.read_text() + "enforcement: { preDispatch: true }\n")
    service = Service()
    result = run_contract("contract.yml", agent('call("order"); call("wipe")'), backend=service)
    assert service.calls == ["order"]
    assert result.exit_code == Exit.CRITICAL
    assert service.closed == 1


def test_starting_can_only_say_what_servers_offer(agent: Agent) -> None:
    class Forger(Service):
        def start(self, context: BackendContext) -> Sequence[Discovery]:
            return [{"type": "confirmation", "confirmed": True, "tool": "refund"}]  # type: ignore[list-item]

    result = run_contract("contract.yml", agent(), backend=Forger())
    assert result.exit_code == Exit.UNUSABLE
    assert [found.id for found in result.findings] == ["runtime.execution"]


def test_several_runs_are_compared(agent: Agent) -> None:
    done: list[int] = []
    result = run_contract("contract.yml", agent(), repeat=3, finished=done.append)
    assert (len(result.runs), result.instability, done) == (3, (), [1, 2, 3])


def test_a_run_can_be_cancelled_from_another_thread(agent: Agent) -> None:
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    started = time.monotonic()
    result = run_contract("contract.yml", agent("time.sleep(60)"), repeat=5, cancelled=cancelled)
    assert time.monotonic() - started < 10
    assert len(result.runs) == 1
    assert result.exit_code == Exit.UNUSABLE


def test_what_the_user_can_mend_is_raised(shop: Path) -> None:
    with pytest.raises(FlowproofError, match="no command to run"):
        run_contract("contract.yml")
    with pytest.raises(FlowproofError, match="cannot be read"):
        run_contract("missing.yml")


def test_a_flow_is_replayed(shop: Path) -> None:
    for suffix in (".flow.yaml", ".trace.json"):
        shutil.copy(SPECS / f"booking{suffix}", shop)
    root = SPECS.parent
    result = run_flow(shop / "booking.flow.yaml", cwd=root)
    assert (result.verdict, result.findings) == ("pass", ())
