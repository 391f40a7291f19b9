"""MCP servers behind an adapter: discovery, drift, latency, size, errors, several at once and mixed with fixtures."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.file import load
from flowproof_runner.contract.run import ContractRun, run
from flowproof_runner.drivers.backend import Answer, BackendContext, NoSuchTool
from flowproof_runner.drivers.fixtures import Case, Fixtures
from flowproof_runner.drivers.mcp_backend import HttpServer, McpBackend, Mixed, StdioServer
from flowproof_runner.drivers.mcp_client import McpFailure
from flowproof_runner.entry import run as flowproof

SERVER = (sys.executable, "-S", str(Path(__file__).with_name("mcp_shop.py")))
TOOLS: list[JsonValue] = [
    {"name": "order", "inputSchema": {"required": ["x", "id"], "type": "object"}},
    {"name": "refund", "inputSchema": {"type": "object"}},
    {"name": "slow", "inputSchema": {"type": "object"}},
]

type Agent = Callable[..., list[str]]


def stdio(name: str = "shop", **more: object) -> StdioServer:
    settings: dict[str, object] = {"words": SERVER, "cwd": Path.cwd(), "env": dict(os.environ), **more}
    return StdioServer(name, **settings)  # type: ignore[arg-type]  # checked by the dataclass


@pytest.fixture
def ran(shop: Path, agent: Agent) -> Callable[..., ContractRun]:
    """Runs a script over the server under an `mcp:` section."""

    def go(script: str, env: Mapping[str, str] | None = None, **mcp: object) -> ContractRun:
        contract = {
            "schemaVersion": "0.1",
            "id": "m",
            "input": {"message": "go"},
            "mcp": {"server": {"command": list(SERVER), "env": dict(env or {})}, **mcp},
            "expect": {"tools": {"required": ["order"]}},
        }
        path = shop / "mcp.yml"
        path.write_text(yaml.safe_dump(contract))
        return run(load(path), agent(script + '\nsend(type="final", status="completed", output=o)'))

    return go


def ids(done: ContractRun) -> list[str]:
    return [found.id for found in done.findings]


def test_calls_are_answered_by_the_server_with_an_environment_of_ones_choice(ran: Callable[..., ContractRun]) -> None:
    done = ran(
        'o = call("order", id="A")["result"]; call("refund")',
        env={"SHOP": "here"},
        toolSnapshot=TOOLS,
        capabilitySnapshot={"tools": {}},
    )
    assert ids(done) == []
    assert [each.id for each in done.exercised if not each.times] == []
    outcome = done.evidence.events[-1]
    assert getattr(outcome, "output", None) == {"id": "A", "amount": 5, "home": "here"}


@pytest.mark.parametrize(
    ("script", "mcp", "finding"),
    [
        ('o = call("order", id="A")', {"toolSnapshot": TOOLS[:1]}, "mcp.schema_drift"),
        ('o = call("order", id="A")', {"toolSnapshot": [*TOOLS, TOOLS[0]]}, "mcp.schema_drift"),
        ('o = call("order", id="A")', {"capabilitySnapshot": {"tools": {"listChanged": True}}}, "mcp.capability_drift"),
        ('o = call("order", id="?"); call("order", id="A")', {}, "mcp.tool_error"),
        ('o = call("order", id="A")', {"maxResponseBytes": 20}, "mcp.response_size"),
        ('o = call("order", id="A"); call("slow")', {"maxToolDurationMs": 100}, "mcp.tool_duration"),
    ],
)
def test_what_a_lane_does_not_keep_is_a_finding(
    ran: Callable[..., ContractRun], script: str, mcp: dict[str, object], finding: str
) -> None:
    done = ran(script, **mcp)
    assert ids(done) == [finding]
    assert int(done.exit) == 1


@pytest.mark.parametrize(
    ("script", "mcp", "problem"),
    [
        ('o = call("nothing")', {}, "'nothing', which no MCP server offers"),
        ('o = call("slow")', {"requestTimeoutMs": 50}, "did not answer tools/call in time"),
        ("o = 1", {"server": {"command": ["/no/such/server"]}}, "cannot be started"),
        ("o = 1", {"server": {"command": [sys.executable, "-c", ""]}}, "ended"),
        ("o = 1", {"server": {"command": ["sleep", "9"]}, "startupTimeoutMs": 200}, "in time"),
    ],
)
def test_a_failing_server_breaks_the_run(
    ran: Callable[..., ContractRun], script: str, mcp: dict[str, object], problem: str
) -> None:
    done = ran(script, **mcp)
    assert ids(done)[-1] == "runtime.execution"
    assert problem in done.findings[-1].message
    assert int(done.exit) == 2


def test_several_servers_and_fixtures_answer_one_run() -> None:
    backend = Mixed(Fixtures({"mail": (Case({"sent": True}),)}), McpBackend((stdio("one"), stdio("two"))))
    try:
        found = backend.start(BackendContext("s"))
        assert [each.server for each in found] == ["one", "two"]
        assert backend.call("mail", {}) == Answer({"sent": True}, source="fixture")
        for name in ("order", "one.order", "two/order", "two__order", "mcp__two__order"):
            answer = backend.call(name, {"id": "A"})
            assert (answer.source, answer.is_error) == ("mcp", False)
            assert isinstance(answer.result, dict)
            assert answer.result["id"] == "A"
        with pytest.raises(NoSuchTool):
            backend.call("three.order", {})
    finally:
        backend.close()


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(McpFailure, match="no http URL"):
        McpBackend((HttpServer("h", "file:///etc"),)).start(BackendContext("s"))


def test_a_server_behind_a_url_answers_too(url: str) -> None:
    backend = McpBackend((HttpServer("web", url),))
    try:
        found = backend.start(BackendContext("s"))
        assert [json.loads(json.dumps(tool))["name"] for tool in found[0].tools] == ["add"]
        answer = backend.call("add", {"a": 2, "b": 3}).result
        assert isinstance(answer, dict)
        assert answer["structuredContent"] == {"result": 5}
        assert backend.call("web.add", {"a": "x"}).is_error
    finally:
        backend.close()


def test_a_catalogue_is_kept_and_its_server_is_held_to_it(ran: Callable[..., ContractRun], shop: Path) -> None:
    assert flowproof(["contract", "snapshot", "tools.json", "--", *SERVER]) == 0
    kept = json.loads((shop / "tools.json").read_text())
    script = 'o = call("order", id="A")'
    assert ids(ran(script, toolSnapshot=kept["tools"], capabilitySnapshot=kept["capabilities"])) == []
    kept["tools"][0]["description"] = "changed"
    assert ids(ran(script, toolSnapshot=kept["tools"])) == ["mcp.schema_drift"]
    assert flowproof(["contract", "snapshot", "tools.json", "--", "/no/such/server"]) == 2
