"""What a lane tells besides calls: its catalogue against a snapshot, and approvals asked for during a call."""

from __future__ import annotations

import pytest

from flowproof_addons.dialects.registry import assembled
from flowproof_addons.mcp import lane_file
from flowproof_addons.mcp.lane import Call, Frame, Lane, Listing
from flowproof_addons.trace.model import JsonValue, Trace
from flowproof_runner.evidence.build import build
from flowproof_runner.evidence.model import Confirmed, Discovered, Evidence
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.model import Confirmation, Contract
from flowproof_runner.expectations.contract.model import Lane as Limits
from flowproof_runner.mcp.evidence import reader

ADD: JsonValue = {"name": "add", "inputSchema": {"type": "object", "required": ["a", "b"]}}
SUB: JsonValue = {"name": "sub", "inputSchema": {"type": "object"}}


def listing(method: str, result: JsonValue, params: dict[str, JsonValue] | None = None, after: int = 0) -> Listing:
    return Listing(method=method, params=params or {}, protocol="2025-06-18", outcome={"result": result}, after=after)


OPENING = listing("initialize", {"capabilities": {"tools": {}}})
PAGES = (
    listing("tools/list", {"tools": [ADD], "nextCursor": "2"}),
    listing("tools/list", {"tools": [SUB]}, {"cursor": "2"}),
    listing("tools/list", {"tools": [ADD], "nextCursor": "2"}),
)


def asked(action: str) -> Call:
    question = Frame(
        at=2,
        message={"method": "elicitation/create", "params": {"message": "Really?"}},
        answer={"result": {"action": action}},
        answered=3,
    )
    return Call(
        method="tools/call",
        params={"name": "pay", "arguments": {"n": 1}},
        opened=1,
        closed=4,
        frames=(question,),
        outcome={"result": {"content": []}},
    )


def observed(lane: Lane) -> Evidence:
    return build(Trace("", "", ""), assembled(()), lanes=(reader("web", lane_file.dump(lane)),))


def test_the_catalogue_is_told_once_with_all_its_pages() -> None:
    [event] = observed(Lane(catalogue=(OPENING, *PAGES))).of(Discovered)
    assert (event.lane, event.capabilities, event.tools) == ("web", {"tools": {}}, (ADD, SUB))


@pytest.mark.parametrize(
    ("limits", "findings"),
    [
        (Limits(server="web", tools=[SUB, ADD], capabilities={"tools": {}}), []),
        (
            Limits(
                server="web",
                tools=[{"name": "add", "inputSchema": {"required": ["b", "a"], "type": "object"}}, SUB],
            ),
            [],
        ),
        (Limits(server="web", tools=[ADD]), ["mcp.schema_drift"]),
        (Limits(server="web", tools=[SUB, {"name": "add", "description": "new"}]), ["mcp.schema_drift"]),
        (Limits(server="web", capabilities={"tools": {"listChanged": True}}), ["mcp.capability_drift"]),
        (Limits(server="other", tools=[ADD]), ["mcp.discovery_missing"]),
    ],
)
def test_a_catalogue_is_held_to_its_snapshot(limits: Limits, findings: list[str]) -> None:
    evidence = observed(Lane(catalogue=(OPENING, *PAGES)))
    assert [found.id for found in evaluate(Contract(expectations=(limits,)), evidence)] == findings


@pytest.mark.parametrize(
    ("method", "findings"),
    [("initialize", ["mcp.capability_drift"]), ("server/discover", [])],
)
def test_capabilities_are_held_to_what_the_snapshot_says_for_clients_of_that_era(
    method: str, findings: list[str]
) -> None:
    """The Python SDK 2.3 tells a client of 2026 that lists may change, and one of 2025 that they do not."""
    changing: JsonValue = {"tools": {"listChanged": True}}
    limits = Limits(server="web", capabilities={"tools": {"listChanged": False}}, discovered=changing)
    seen = observed(Lane(catalogue=(listing(method, {"capabilities": changing}), *PAGES)))
    found = evaluate(Contract(expectations=(limits,)), seen)
    assert [each.id for each in found] == findings
    assert all("behaviour  capability tools:" in each.detail for each in found)


def test_a_catalogue_nobody_asked_for_is_missing() -> None:
    found = evaluate(Contract(expectations=(Limits(server="web", tools=[]),)), observed(Lane(catalogue=(OPENING,))))
    assert [each.id for each in found] == ["mcp.discovery_missing"]


@pytest.mark.parametrize(("action", "findings"), [("accept", []), ("decline", ["safety.confirmation_required"])])
@pytest.mark.parametrize("tool", ["pay", "web.pay", "mcp__web__pay"])
def test_what_a_server_asks_during_a_call_approves_that_call(action: str, findings: list[str], tool: str) -> None:
    evidence = observed(Lane(calls=(asked(action),)))
    [event] = evidence.of(Confirmed)
    assert (event.granted, event.arguments) == (action == "accept", {"n": 1})
    contract = Contract(expectations=(Confirmation(tool=tool, by="elicitation", bound=True),))
    assert [found.id for found in evaluate(contract, evidence)] == findings


def test_an_approval_of_one_call_is_none_of_another() -> None:
    other = Call(method="tools/call", params={"name": "pay", "arguments": {"n": 1}}, opened=5)
    evidence = observed(Lane(calls=(asked("accept"), other)))
    found = evaluate(Contract(expectations=(Confirmation(tool="pay", by="elicitation"),)), evidence)
    assert [each.id for each in found] == ["safety.confirmation_required"]
