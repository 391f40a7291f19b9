"""Real MCP clients against recorded lanes: what they were told at record they are told again, with no server there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowproof_addons.session import McpServer, McpTool, MockResult

OWN = Path(__file__).parent / "servers/own.py"
GONE = McpServer(name="own", command=("/nonexistent/server",))
"""At replay nothing may need the real server: this one cannot even be started."""

type Find = Callable[[str], Any]
type Run = Callable[..., Any]

CLIENTS = ("py-2-auto", "py-2-legacy", "py-1", "ts-2-auto", "ts-2-legacy", "ts-1")


def own(**more: Any) -> McpServer:
    return McpServer(name="own", command=(sys.executable, str(OWN)), **more)


def ids(outcome: Any) -> list[str]:
    return [str(entry["id"]) for entry in outcome.findings]


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_lane_recorded_over_stdio_replays_over_either_transport(
    name: str, transport: str, client: Find, run_lane: Run
) -> None:
    script = [["tools"], ["call", "echo", {"text": "a"}], ["call", "echo", {"text": "a"}], ["call", "fail", {}]]
    recorded = run_lane(client(name), script, own())
    assert ids(recorded) == []
    replayed = run_lane(client(name), script, GONE, recorded.lane, transport)
    assert (replayed.said, ids(replayed)) == (recorded.said, [])


@pytest.mark.parametrize("name", ["py-2-auto", "py-2-legacy"])
@pytest.mark.parametrize(
    "script",
    [
        pytest.param([["progress", "steps", {"count": 3}]], id="progress"),
        pytest.param([["call", "chatty", {}]], id="logging"),
        pytest.param([["call", "who", {}]], id="elicitation"),
        pytest.param([["read", "note://x"]], id="resources"),
        pytest.param(
            [["parallel", [["echo", {"text": "slow", "delay": 0.3}], ["echo", {"text": "quick"}]]]],
            id="answers out of order",
        ),
    ],
)
def test_what_a_server_does_while_a_call_is_open_is_replayed(
    name: str, script: list[Any], client: Find, run_lane: Run
) -> None:
    recorded = run_lane(client(name), script, own())
    assert ids(recorded) == []
    replayed = run_lane(client(name), script, GONE, recorded.lane)
    assert (replayed.said, ids(replayed)) == (recorded.said, [])


def test_another_argument_diverges_and_names_the_field(client: Find, run_lane: Run) -> None:
    recorded = run_lane(client("py-2-auto"), [["call", "echo", {"text": "Nairobi"}]], own())
    replayed = run_lane(client("py-2-auto"), [["call", "echo", {"text": "Mombasa"}]], GONE, recorded.lane)
    assert ids(replayed)[0] == "mcp.divergence"
    told = str(replayed.findings[0])
    assert "text" in told and "Nairobi" in told and "Mombasa" in told


def test_a_call_too_many_diverges(client: Find, run_lane: Run) -> None:
    one = ["call", "echo", {"text": "a"}]
    recorded = run_lane(client("py-2-auto"), [one], own())
    assert ids(run_lane(client("py-2-auto"), [one, one], GONE, recorded.lane))[0] == "mcp.divergence"


def test_a_call_not_made_is_unserved(client: Find, run_lane: Run) -> None:
    recorded = run_lane(client("py-2-auto"), [["call", "echo", {"text": "a"}], ["call", "fail", {}]], own())
    assert ids(run_lane(client("py-2-auto"), [["call", "echo", {"text": "a"}]], GONE, recorded.lane)) == [
        "mcp.unserved"
    ]


def test_a_declared_result_is_answered_by_the_spec_and_never_reaches_the_server(client: Find, run_lane: Run) -> None:
    mocked = McpTool(name="echo", results=(MockResult(content={"text": "from the spec"}),))
    recorded = run_lane(client("py-2-auto"), [["call", "echo", {"text": "a"}]], own(tools=(mocked,)))
    assert "from the spec" in str(recorded.said)
    assert "echo a" not in str(recorded.said)
    assert [call["by"] for call in recorded.lane["calls"]] == ["spec"]


def test_a_forbidden_call_is_refused_before_it_reaches_the_server_and_the_agent_goes_on(
    client: Find, run_lane: Run
) -> None:
    script = [["call", "echo", {"text": "a"}], ["call", "chatty", {}]]
    recorded = run_lane(client("py-2-auto"), script, own(forbidden=("echo",)))
    assert [call.get("by", "server") for call in recorded.lane["calls"]] == ["enforce", "server"]
    assert "refused before it reached own" in str(recorded.said)


def test_a_server_the_agent_never_contacts_is_named_with_its_variable(tmp_path: Path, run_lane: Run) -> None:
    idle = type("Idle", (), {"argv": (sys.executable, "-c", "print('{}')"), "mode": "-"})()
    assert ids(run_lane(idle, [], own())) == ["mcp.uncontacted"]
