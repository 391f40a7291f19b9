"""Whoever answers, a refused call reaches nobody, and each call's life is told in order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.api import Answer, BackendContext, ContractResult, Discovery, run_contract

SERVER = [sys.executable, "-S", str(Path(__file__).with_name("mcp_shop.py"))]
POLITE = 'send(type="hello", understands=["tool_denied"])\n'
FINAL = (
    'send(type="final", status="completed", output={"order": o["type"], "refused": r["type"], "why": r.get("reason")})'
)

type Agent = Callable[..., list[str]]


class Shop:
    """A backend that writes down what reaches it."""

    def __init__(self, calls: Path) -> None:
        self.calls = calls

    def start(self, context: BackendContext) -> Sequence[Discovery]:
        return ()

    def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Answer:
        with self.calls.open("a") as file:
            file.write(f"{tool}\n")
        return Answer({})

    def close(self) -> None:
        return


@pytest.fixture(params=["fixtures", "backend", "server", "servers and fixtures"])
def enforced(request: pytest.FixtureRequest, shop: Path, agent: Agent) -> Callable[[str], tuple[ContractResult, str]]:
    """Runs a script under an enforced contract; what came of it, and what was reached."""
    reached = shop / "reached"
    sections: dict[str, dict[str, object]] = {
        "fixtures": {"fixtures": {"order": {}, "refund": {}, "slow": {}}},
        "backend": {},
        "server": {"mcp": {"server": {"command": SERVER, "env": {"SHOP_CALLS": str(reached)}}}},
        "servers and fixtures": {
            "mcp": [{"name": "mcp", "command": SERVER, "env": {"SHOP_CALLS": str(reached)}}],
            "fixtures": {"other": {}},
        },
    }
    contract = {
        "schemaVersion": "0.2",
        "id": "enforced",
        "input": {"message": "go"},
        "enforcement": {"preDispatch": True},
        "expect": {"calls": ["slow never"], "confirm": ["refund needs adapter approved with same arguments"]},
        **sections[request.param],
    }
    (shop / "contract.yml").write_text(yaml.safe_dump(contract))

    def run(script: str) -> tuple[ContractResult, str]:
        backend = Shop(reached) if request.param == "backend" else None
        done = run_contract("contract.yml", agent(script), backend=backend)
        return done, reached.read_text() if reached.exists() else ""

    return run


def life(done: ContractResult) -> list[tuple[object, object]]:
    [report] = done.reports
    rows = report["evidence"]
    assert isinstance(rows, list)
    return [(row["tool"], row["state"]) for row in rows if isinstance(row, dict) and row["type"] == "tool_lifecycle"]


def output(done: ContractResult) -> object:
    return getattr(done.runs[0].evidence.events[-1], "output", None)


CARRIED_OUT = ["requested", "authorized", "dispatched", "completed"]


@pytest.mark.parametrize(
    ("call", "tool", "reason"),
    [
        ('call("slow")', "slow", "tool_forbidden"),
        ('call("refund", n=1)', "refund", "confirmation_missing_or_mismatched"),
        (
            '(send(type="confirmation", tool="refund", confirmed=True, arguments={"n": 1}), call("refund", n=2))[1]',
            "refund",
            "confirmation_missing_or_mismatched",
        ),
    ],
    ids=["forbidden", "not approved", "approved for something else"],
)
def test_a_refused_call_reaches_nobody_and_an_adapter_that_understands_goes_on(
    call: str, tool: str, reason: str, enforced: Callable[[str], tuple[ContractResult, str]]
) -> None:
    script = f'o = call("order", id="A")\nr = {call}\n{FINAL}'
    told = {"order": "tool_result", "refused": "tool_denied", "why": reason}
    for before, outcome in (("", None), (POLITE, told)):
        done, reached = enforced(before + script)
        assert [found.id for found in done.findings] == ["dispatch.authorization_denied"]
        assert int(done.exit_code) == 3
        assert life(done) == [*(("order", state) for state in CARRIED_OUT), (tool, "requested"), (tool, "denied")]
        assert set(reached.split()) <= {"order"}
        assert output(done) == outcome


def test_an_approved_call_is_carried_out_once(enforced: Callable[[str], tuple[ContractResult, str]]) -> None:
    approved = 'send(type="confirmation", tool="refund", confirmed=True, arguments={"n": 1})\n'
    done, reached = enforced(f'{POLITE}{approved}o = call("refund", n=1)\nr = call("refund", n=1)\n{FINAL}')
    assert output(done) == {
        "order": "tool_result",
        "refused": "tool_denied",
        "why": "confirmation_missing_or_mismatched",
    }
    assert life(done) == [*(("refund", state) for state in CARRIED_OUT), ("refund", "requested"), ("refund", "denied")]
    assert reached.split() in ([], ["refund"])
