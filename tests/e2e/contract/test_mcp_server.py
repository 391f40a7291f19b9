"""`flowproof mcp-server` spoken to by the official SDK's client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
import yaml
from mcp import Client, StdioServerParameters

from flowproof_runner.api import record_flow

MAIN = "from flowproof_runner.entry import main; main()"

type Agent = Callable[..., list[str]]


def talk[T](folder: Path, conversation: Callable[[Client], Awaitable[T]]) -> T:
    async def go() -> T:
        parameters = StdioServerParameters(
            command=sys.executable, args=["-c", MAIN, "mcp-server"], cwd=folder, env=dict(os.environ)
        )
        with anyio.fail_after(60):
            async with Client(parameters) as client:
                return await conversation(client)

    return anyio.run(go)


def data(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    found: dict[str, Any] = result.structured_content
    return found


def test_the_tools_are_offered_with_their_schemas(shop: Path) -> None:
    async def conversation(client: Client) -> Any:
        return await client.list_tools()

    tools = {tool.name: tool for tool in talk(shop, conversation).tools}
    assert set(tools) == {"run_contract", "explain_report", "run_flow", "list_specs", "show_trace"}
    assert all(tool.output_schema for tool in tools.values())
    assert tools["explain_report"].annotations.read_only_hint is True


def test_a_contract_is_run_with_progress_and_its_report_explained(shop: Path, agent: Agent) -> None:
    command = agent('call("wipe"); send(type="final", status="completed", output={"refunded": 1, "notes": []})')
    seen: list[tuple[float, float | None]] = []

    async def conversation(client: Client) -> tuple[Any, Any, Any]:
        async def told(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total))

        arguments = {"path": "contract.yml", "command": command, "repeat": 2}
        ran = await client.call_tool("run_contract", arguments, progress_callback=told)
        explained = await client.call_tool("explain_report", {"path": data(ran)["reports"][0]})
        listed = await client.call_tool("list_specs", {})
        return ran, explained, listed

    ran, explained, listed = map(data, talk(shop, conversation))
    assert ran["exit_code"] == 3
    assert ran["meaning"] == "critical safety finding"
    assert "tool.forbidden" in {found["id"] for found in ran["findings"]}
    assert (ran["runs"], ran["tool_calls"]) == (2, 2)
    assert seen == [(1, 2), (2, 2)]
    assert explained["lifecycle"] == ["wipe: requested", "wipe: dispatched", "wipe: completed"]
    assert explained["calls"][0]["tool"] == "wipe"
    assert explained["outcome"] == {"refunded": 1, "notes": []}
    assert [(spec["kind"], spec["name"]) for spec in listed["specs"]] == [("contract", "shop")]


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("run_contract", {"path": "missing.yml", "command": ["true"]}, "cannot be read"),
        ("run_contract", {"path": "contract.yml"}, "no command to run"),
        ("explain_report", {"path": "contract.yml"}, "is not a report"),
        ("explain_report", {"path": "../../../etc/passwd"}, "is outside"),
        ("run_contract", {"path": "/etc/passwd", "command": ["true"]}, "is outside"),
        ("show_trace", {"path": "contract.yml"}, "no such cassette"),
    ],
)
def test_what_cannot_be_done_is_an_error_of_the_tool(
    tool: str, arguments: dict[str, Any], problem: str, shop: Path
) -> None:
    async def conversation(client: Client) -> Any:
        return await client.call_tool(tool, arguments)

    result = talk(shop, conversation)
    assert result.is_error
    assert problem in result.content[0].text


@pytest.fixture
def flow(shop: Path, agent: Agent, good: str) -> Path:
    """A recorded flow around the good adapter, which prints more than it should to stderr."""
    spec = {
        "name": "The shop refunds an order",
        "app": "agent",
        "agent": {"adapter": agent("print('noise', file=sys.stderr)" + good)},
        "tools": [{"name": "order", "result": {"id": "A", "amount": 5}}, {"name": "refund", "result": {"ok": True}}],
        "steps": [{"prompt": "Refund A."}, {"assert_tool_call": "refund where amount equals 5"}],
    }
    path = shop / "shop.flow.yaml"
    path.write_text(yaml.safe_dump(spec))
    assert record_flow(path).verdict == "pass"
    return path


def test_a_flow_is_replayed_with_progress_and_its_trace_is_shown(flow: Path, shop: Path) -> None:
    seen: list[tuple[float, float | None]] = []

    async def conversation(client: Client) -> tuple[Any, ...]:
        async def told(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total))

        ran = await client.call_tool("run_flow", {"path": flow.name}, progress_callback=told)
        listed = await client.call_tool("list_specs", {"path": "."})
        shown = await client.call_tool("show_trace", {"path": flow.name.replace(".flow.yaml", ".trace.json")})
        flow.write_text(flow.read_text().replace("amount equals 5", "amount equals 6"))
        return ran, listed, shown, await client.call_tool("run_flow", {"path": flow.name})

    ran, listed, shown, failed = map(data, talk(shop, conversation))
    assert (ran["verdict"], ran["exit_code"]) == ("pass", 0)
    assert seen == [(0, 1), (1, 1)]
    kinds = {spec["path"]: (spec["kind"], spec["recorded"]) for spec in listed["specs"]}
    assert kinds == {"contract.yml": ("contract", None), flow.name: ("flow", True)}
    assert "refund" in shown["text"]
    assert "\x1b" not in shown["text"]
    assert failed["verdict"] == "fail"
    assert "shop.flow.yaml:" in failed["findings"][0]["where"]


def test_nothing_but_json_rpc_reaches_stdout_whatever_is_printed(flow: Path, shop: Path, agent: Agent) -> None:
    (shop / "suite.yaml").write_text("addons: loud.py\n")
    (shop / "loud.py").write_text("print('loud', flush=True)\n")
    calls: list[tuple[str, dict[str, object]]] = [
        ("run_flow", {"path": flow.name}),
        ("run_contract", {"path": "contract.yml", "command": agent("print('no json')")}),
        ("list_specs", {}),
        ("nothing", {}),
    ]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "mcp-server"],
        cwd=shop,
        env={**os.environ, "FORCE_COLOR": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    replies: list[dict[str, Any]] = []
    for number, (method, params) in enumerate(
        [("initialize", hello), *(("tools/call", {"name": name, "arguments": given}) for name, given in calls)]
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())
        process.stdin.write(b"\n")
        if not number:
            process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        process.stdin.flush()
        replies.append(json.loads(process.stdout.readline()))
    rest, errors = process.communicate(timeout=60)
    assert rest == b""
    assert process.returncode == 0, errors
    assert b"loud" in errors
    assert [(reply["jsonrpc"], reply["id"]) for reply in replies] == [("2.0", number) for number in range(5)]
    assert replies[1]["result"]["structuredContent"]["verdict"] == "pass"
    assert replies[2]["result"]["structuredContent"]["exit_code"] == 2


def test_an_adapter_that_prints_and_lingers_disturbs_nothing_and_is_ended_with_the_server(
    shop: Path, agent: Agent
) -> None:
    command = agent("open('pid', 'w').write(str(__import__('os').getpid())); time.sleep(60)")

    async def conversation(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run_contract", {"path": "contract.yml", "command": command})
            while not (shop / "pid").exists() or not (shop / "pid").read_text():
                await anyio.sleep(0.02)
            assert data(await client.call_tool("list_specs", {}))["specs"]
            group.cancel_scope.cancel()

    talk(shop, conversation)
    pid = int((shop / "pid").read_text())
    deadline = time.monotonic() + 60
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(pid)
