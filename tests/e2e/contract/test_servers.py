"""Several MCP servers behind one contract file, over stdio and HTTP, with fixtures in front of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from flowproof_addons import FlowproofError
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.file import load
from flowproof_runner.contract.run import ContractRun, Setting, run
from flowproof_runner.drivers.backend import BackendContext
from flowproof_runner.drivers.mcp_backend import McpBackend, StdioServer
from flowproof_runner.drivers.mcp_client import McpFailure
from flowproof_runner.entry import run as flowproof
from flowproof_runner.evidence.model import Concluded
from flowproof_runner.reading.problems import SpecError

SERVER = [sys.executable, "-S", str(Path(__file__).with_name("mcp_shop.py"))]
FINAL = '\nsend(type="final", status="completed", output=o)'

type Agent = Callable[..., list[str]]
type Go = Callable[..., ContractRun]


def shop_server(name: str = "shop", **more: object) -> dict[str, object]:
    return {"name": name, "command": SERVER, **more}


@pytest.fixture
def write(shop: Path) -> Callable[..., Path]:
    """Writes a contract file over these servers."""

    def written(*servers: Mapping[str, object], **more: object) -> Path:
        contract = {
            "schemaVersion": "0.2",
            "id": "several",
            "input": {"message": "go"},
            "mcp": list(servers),
            "expect": {"calls": ["order at least once"]},
            **more,
        }
        path = shop / "several.yml"
        path.write_text(yaml.safe_dump(contract))
        return path

    return written


@pytest.fixture
def go(write: Callable[..., Path], agent: Agent) -> Go:
    """Runs a script over these servers."""

    def ran(
        script: str, *servers: Mapping[str, object], env: Mapping[str, str] | None = None, **more: object
    ) -> ContractRun:
        file = load(write(*servers, **more))
        return run(file, agent(script + FINAL), setting=Setting(env=env) if env is not None else None)

    return ran


def output(done: ContractRun) -> JsonValue:
    return next(done.evidence.of(Concluded)).output


def ids(done: ContractRun) -> list[str]:
    return [found.id for found in done.findings]


def test_fixtures_and_servers_of_both_transports_answer_one_adapter(go: Go, url: str) -> None:
    done = go(
        'o = [call("order", id="A")["result"], call("disk.order", id="B")["result"]["home"],'
        ' call("web/add", a=2, b=3)["result"]["structuredContent"], call("refund")["result"]]',
        shop_server(env={"SHOP": "${HERE}"}),
        shop_server("disk", env={"SHOP": "$${HERE}"}),
        {"name": "web", "url": "${URL}", "headers": {"X-Key": "${HERE}"}},
        env={"HERE": "here", "URL": url, "PATH": "/usr/bin"},
        fixtures={"refund": {"from": "fixture"}},
        expect={"calls": ["shop.order at least once", "disk.order exactly once", "add exactly once"]},
    )
    assert ids(done) == []
    assert output(done) == [
        {"id": "A", "amount": 5, "home": "here"},
        "${HERE}",
        {"result": 5},
        {"from": "fixture"},
    ]


def test_each_server_is_held_to_its_own_limits_and_catalogue(go: Go, shop: Path) -> None:
    assert flowproof(["contract", "snapshot", "tools.json", "--", *SERVER]) == 0
    kept = shop_server("kept", snapshot="tools.json", limits={"result": "64KiB"})
    assert ids(go('o = call("order", id="A")', kept)) == []
    tight = shop_server("tight", limits={"result": "20B", "call": "100ms"})
    done = go(
        'o = call("kept.order", id="A"); call("tight.order", id="A"); call("tight.slow"); call("kept.slow")',
        kept,
        tight,
    )
    assert sorted(ids(done)) == ["mcp.response_size", "mcp.response_size", "mcp.tool_duration"]
    (shop / "tools.json").write_text("[]")
    assert ids(go('o = call("order", id="A")', kept)) == ["mcp.schema_drift"]


def test_a_call_cannot_outlast_the_run() -> None:
    backend = McpBackend((StdioServer("shop", tuple(SERVER), Path.cwd(), {}),))
    try:
        backend.start(BackendContext("s", timeout_s=1.0))
        with pytest.raises(McpFailure, match="in time"):
            backend.call("slow", {"s": 30})
    finally:
        backend.close()


@pytest.mark.parametrize(
    ("servers", "problem"),
    [
        ([shop_server(), shop_server()], "there are 2 servers called shop"),
        ([shop_server(port=8080, url="http://x", command=None)], "flowproof is the client"),
        ([shop_server(tools=[{"name": "order", "result": 1}])], "belong under fixtures"),
        ([{"name": "shop"}], "exactly one of command and url is needed"),
        ([shop_server(snapshot="nothing.json")], "nothing.json cannot be read"),
        ([], "mcp: is empty"),
    ],
)
def test_servers_that_cannot_be_meant_are_refused(
    servers: list[dict[str, object]], problem: str, write: Callable[..., Path]
) -> None:
    with pytest.raises(SpecError, match=problem):
        load(write(*({k: v for k, v in each.items() if v is not None} for each in servers)))


def test_a_variable_that_is_not_set_is_named(go: Go) -> None:
    with pytest.raises(FlowproofError, match="mcp server shop: environment variable NOT_SET is not set"):
        go("o = 1", shop_server(env={"SHOP": "${NOT_SET}"}), env={})
