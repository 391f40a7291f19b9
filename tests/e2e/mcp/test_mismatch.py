"""What a client does otherwise than when recorded fails and names itself, over both transports."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from tests.e2e.mcp.lanes import HERE, Transport
from tests.e2e.mcp.programs import CLIENTS, Script, play, program

from flowproof_addons.session import McpServer
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.process import BoundaryProcess

OWN = McpServer(name="peer", command=(sys.executable, str(HERE / "servers" / "own.py")))


def echo(text: str) -> JsonValue:
    return ["call", "echo", {"text": text}]


WAYS: dict[str, tuple[Script, str, str]] = {
    "changed argument": (
        [echo("a"), echo("c")],
        "mcp.divergence",
        "call 2, tools/call echo: arguments.text: 'b' -> 'c'",
    ),
    "swapped": (
        [echo("b"), echo("a")],
        "mcp.divergence",
        "tools/call echo is recorded as call 2 and was sent before call 1, tools/call echo; "
        "the agent changed the order of its calls",
    ),
    "missing": ([echo("a")], "mcp.unserved", '1 recorded call(s) were not made: tools/call echo {"text": "b"}'),
    "extra": (
        [echo("a"), echo("b"), echo("b")],
        "mcp.divergence",
        "tools/call echo was called although all 2 recorded calls had been made",
    ),
    "another tool": (
        [echo("a"), ["call", "fail", {}]],
        "mcp.divergence",
        "call 2 was tools/call echo, now tools/call fail",
    ),
}


def test_each_mismatch_fails_and_names_itself(tmp_path: Path) -> None:
    async def go() -> list[object]:
        wrong: list[object] = []
        with Boundary(BoundaryProcess(tmp_path / "boundary")) as boundary:
            async with program(CLIENTS["py-2-legacy"], tmp_path) as running:
                lane = (await play(boundary, tmp_path, running, [echo("a"), echo("b")], OWN, "stdio")).lane
                transports: tuple[Transport, ...] = ("stdio", "http")
                for over in transports:
                    for way, (script, id_, said) in WAYS.items():
                        findings = (await play(boundary, tmp_path, running, script, OWN, over, lane)).findings
                        wrong += [(over, way, findings)] if not named(findings, id_, f"mcp.peer: {said}") else []
        return wrong

    assert asyncio.run(go()) == []


def test_a_client_of_another_era_fails_and_names_both(tmp_path: Path) -> None:
    async def go() -> None:
        with Boundary(BoundaryProcess(tmp_path / "boundary")) as boundary:
            async with program(CLIENTS["py-2-auto"], tmp_path) as running:
                lane = (await play(boundary, tmp_path, running, [echo("a")], OWN, "stdio")).lane
            async with program(CLIENTS["py-2-legacy"], tmp_path) as running:
                with pytest.raises(AssertionError, match="speaks protocol 2025-11-25"):
                    await play(boundary, tmp_path, running, [echo("a")], OWN, "http", lane)

    asyncio.run(go())


def named(findings: JsonValue, id_: str, message: str) -> bool:
    """The first finding is this one."""
    first = findings[0] if isinstance(findings, list) and findings else None
    return isinstance(first, dict) and first["id"] == id_ and str(first["message"]).endswith(message)
