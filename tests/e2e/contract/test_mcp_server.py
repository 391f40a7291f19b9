"""`flowproof mcp-server` spoken to by the official SDK's client."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from mcp import Client, StdioServerParameters

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
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(pid)
