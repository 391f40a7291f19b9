"""Whether a call may be dispatched: what is banned or not approved may not, nor what cannot be decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import AnyEvent, Confirmed, Decided, Discovered, Evidence
from flowproof_runner.expectations.contract.evaluate import evaluate
from flowproof_runner.expectations.contract.gate import Gate
from flowproof_runner.expectations.contract.model import Contract, Enforcement

type Play = Callable[[list[tuple[object, ...]]], Evidence]
type Build = Callable[..., Contract]
type Steps = list[tuple[object, ...]]

EVERYTHING: frozenset[Enforcement] = frozenset({"forbidden", "confirmation"})
POLICY: tuple[object, ...] = ("call", "policy", {}, {"limit": 3})


@dataclass(frozen=True)
class Case:
    id: str
    expect: dict[str, list[str]]
    steps: Steps
    asked: tuple[str, JsonValue]
    refused: str | None


def never(line: str) -> dict[str, list[str]]:
    return {"calls": [line]}


BOUND = {"confirm": ["pay needs adapter approved with same arguments"]}
YES = ("confirm", "pay", {"n": 1}, True)

CASES = [
    Case("a ban", never("wipe never"), [], ("wipe", {}), "tool_forbidden"),
    Case("no ban of this tool", never("wipe never"), [], ("order", {}), None),
    Case("a ban of such calls", never("pay never where n > 2"), [], ("pay", {"n": 3}), "tool_forbidden"),
    Case("a ban of other calls", never("pay never where n > 2"), [], ("pay", {"n": 2}), None),
    Case(
        "a ban by an answer", never("pay never where n > policy.limit"), [POLICY], ("pay", {"n": 4}), "tool_forbidden"
    ),
    Case("not banned by an answer", never("pay never where n > policy.limit"), [POLICY], ("pay", {"n": 3}), None),
    Case(
        "a ban by an answer nobody had",
        never("pay never where n > policy.limit"),
        [],
        ("pay", {"n": 1}),
        "tool_forbidden",
    ),
    Case(
        "a condition nobody can read",
        never("pay never when policy.open is false"),
        [],
        ("pay", {}),
        "tool_forbidden",
    ),
    Case("a condition that is false", never("pay never when policy.limit > 3"), [POLICY], ("pay", {}), None),
    Case(
        "a condition that holds so far",
        never("pay never when count(list.args.id) < 1"),
        [],
        ("pay", {}),
        "tool_forbidden",
    ),
    Case(
        "a condition that held before",
        never("pay never when count(list.args.id) < 1"),
        [("call", "list", {"id": 1}, {})],
        ("pay", {}),
        None,
    ),
    Case("the outcome is still to come", never("pay never when out.done is empty"), [], ("pay", {}), None),
    Case("no approval", BOUND, [], ("pay", {"n": 1}), "confirmation_missing_or_mismatched"),
    Case("approved", BOUND, [YES], ("pay", {"n": 1}), None),
    Case("approved otherwise", BOUND, [YES], ("pay", {"n": 2}), "confirmation_missing_or_mismatched"),
    Case(
        "used up", BOUND, [YES, ("call", "pay", {"n": 1}, {})], ("pay", {"n": 1}), "confirmation_missing_or_mismatched"
    ),
    Case(
        "taken back",
        BOUND,
        [YES, ("confirm", "pay", {"n": 1}, False)],
        ("pay", {"n": 1}),
        "confirmation_missing_or_mismatched",
    ),
]


def refusal(contract: Contract, events: Sequence[AnyEvent], tool: str, arguments: JsonValue) -> str | None:
    seq = len(events)
    asked = Decided(
        seq=seq, lane="adapter", call="x", tool=tool, arguments=arguments, arguments_text="", thread="", group=seq
    )
    return Gate(contract, EVERYTHING).refusal((*events, asked), "x", tool, "adapter", arguments)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_call_is_let_through_only_where_it_is_known_to_be_allowed(case: Case, contract: Build, play: Play) -> None:
    built = contract(("policy", "list"), **case.expect)
    assert refusal(built, play(case.steps).events, *case.asked) == case.refused


@pytest.mark.parametrize("enforced", [frozenset[Enforcement](), frozenset[Enforcement]({"confirmation"})])
def test_only_what_is_enforced_refuses(enforced: frozenset[Enforcement], contract: Build) -> None:
    assert Gate(contract(calls=["wipe never"]), enforced).refusal((), "x", "wipe", "adapter", {}) is None


SPELLINGS = ["wipe", "web.wipe", "web/wipe", "web__wipe", "mcp__web__wipe"]
SERVER = Discovered(seq=0, lane="web", capabilities={}, tools=({"name": "wipe"}, {"name": "pay"}))


@pytest.mark.parametrize("said", SPELLINGS)
@pytest.mark.parametrize("banned", SPELLINGS)
def test_a_tool_of_a_server_is_refused_by_whichever_of_its_names(banned: str, said: str, contract: Build) -> None:
    built = contract((banned,), calls=[f"{banned} never"])
    assert refusal(built, (SERVER,), said, {}) == "tool_forbidden"
    assert refusal(built, (SERVER,), said.replace("wipe", "pay"), {}) is None


def test_an_approval_counts_by_whichever_of_its_names(contract: Build) -> None:
    built = contract(confirm=["pay needs adapter approved"])
    said = Confirmed(seq=1, lane="adapter", call=None, tool="web.pay", arguments=None, granted=True)
    assert refusal(built, (SERVER, said), "mcp__web__pay", {}) is None
    assert refusal(built, (SERVER,), "mcp__web__pay", {}) == "confirmation_missing_or_mismatched"


def test_another_servers_tool_of_the_same_name_is_another_tool(contract: Build) -> None:
    built = contract(calls=["web.wipe never"])
    other = Discovered(seq=1, lane="disk", capabilities={}, tools=({"name": "wipe"},))
    assert refusal(built, (SERVER, other), "disk.wipe", {}) is None
    assert refusal(built, (SERVER, other), "wipe", {}) == "tool_forbidden"


def test_what_was_carried_out_under_another_name_is_found_afterwards(contract: Build, play: Play) -> None:
    events = play([("call", "nothing", {}, {}), ("call", "web.wipe", {}, {})]).events
    evidence = Evidence((SERVER, *events[1:]), frozenset({"adapter"}))
    assert [found.id for found in evaluate(contract(calls=["wipe never"]), evidence)] == ["tool.forbidden"]
