"""What is said of tools that really run, at every replay too, although the spec mocks or forbids them."""

from __future__ import annotations

import pytest

from flowproof_runner.evidence.model import ADAPTER, MODEL, Decided, Evidence
from flowproof_runner.evidence.names import aliases
from flowproof_runner.flow.observed import unintercepted

MOCKED = "nothing intercepts {}: the agent carries it out at every replay, only what the model is told is fixed; "
FORBIDDEN = "nothing intercepts {}: the agent carries it out at every replay, it is forbidden, not kept from running; "
REMEDY = "declare its server under `mcp:` to keep it from running"


def asked(*tools: str, lane: str = MODEL, observed: str = "") -> Evidence:
    """The model asked for these tools; `observed`: the one a declared server `fs` has."""
    events = tuple(
        Decided(seq=n, lane=lane, call=str(n), tool=tool, arguments={}, arguments_text="{}", thread="", group=n)
        for n, tool in enumerate(tools)
    )
    return Evidence(events, frozenset({"fs"}), dict.fromkeys(aliases("fs", observed), "fs"))


@pytest.mark.parametrize(
    ("mocked", "forbidden", "evidence", "said"),
    [
        ({"pay"}, set(), asked("pay", "pay", "look"), [MOCKED.format("pay")]),
        (set(), {"pay"}, asked("pay"), [FORBIDDEN.format("pay")]),
        ({"pay"}, {"pay", "bank.pay"}, asked("mcp__bank__pay"), [MOCKED.format("mcp__bank__pay")]),
        ({"pay"}, {"wipe"}, asked("wipe", "pay"), [MOCKED.format("pay"), FORBIDDEN.format("wipe")]),
        ({"pay"}, {"wipe"}, asked("look"), []),
        ({"pay"}, set(), asked("pay", observed="pay"), []),
        (set(), {"fs.pay"}, asked("mcp__fs__pay", observed="pay"), []),
        ({"pay"}, set(), asked("pay", lane=ADAPTER), []),
    ],
)
def test_each_tool_that_nothing_intercepts_is_pointed_out_once(
    mocked: set[str], forbidden: set[str], evidence: Evidence, said: list[str]
) -> None:
    assert list(unintercepted(mocked, forbidden, evidence)) == [words + REMEDY for words in said]
