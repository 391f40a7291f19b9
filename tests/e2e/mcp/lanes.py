"""Client programs and servers, and one run of a program against one lane, recorded or replayed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from flowproof_addons.mcp.lanes import Lanes
from flowproof_addons.session import McpServer, Session
from flowproof_addons.trace.model import JsonValue, Phase

HERE = Path(__file__).parent
PEERS = HERE / "peers"
PYTHON_1 = PEERS / "python-1" / "bin" / "python"
PYTHON_2 = PEERS / "python-2" / "bin" / "python"
NODE_MODULES = PEERS / "node_modules"

type Script = Sequence[JsonValue]


@dataclass(frozen=True, slots=True)
class Client:
    """A client program: what runs it, and the mode it is told."""

    id: str
    argv: tuple[str, ...]
    mode: str = "-"
    needs: Path | None = None

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True)
class Listening:
    """An HTTP server that runs."""

    url: str
    stop: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run."""

    said: JsonValue
    """What the client printed."""
    lane: JsonValue
    findings: tuple[Mapping[str, JsonValue], ...]
    remarks: JsonValue


CLIENTS = {
    client.id: client
    for client in (
        Client("py-2-auto", (sys.executable, str(HERE / "clients/py2.py")), "auto"),
        Client("py-2-legacy", (sys.executable, str(HERE / "clients/py2.py")), "legacy"),
        Client("py-1", (str(PYTHON_1), str(HERE / "clients/py1.py")), needs=PYTHON_1),
        Client("ts-2-auto", ("node", str(PEERS / "client.mjs")), "auto", NODE_MODULES),
        Client("ts-2-legacy", ("node", str(PEERS / "client.mjs")), "legacy", NODE_MODULES),
        Client("ts-1", ("node", str(PEERS / "client.mjs")), "sdk-1", NODE_MODULES),
        Client("langchain", (str(PYTHON_1), str(HERE / "clients/frameworks.py")), "langchain", PYTHON_1),
        Client("openai-agents", (str(PYTHON_1), str(HERE / "clients/frameworks.py")), "openai-agents", PYTHON_1),
        Client("pydantic-ai", (str(PYTHON_2), str(HERE / "clients/frameworks.py")), "pydantic-ai", PYTHON_2),
        Client("fastmcp", (str(PYTHON_2), str(HERE / "clients/frameworks.py")), "fastmcp", PYTHON_2),
    )
}


def run_lane(
    folder: Path,
    client: Client,
    script: Script,
    server: McpServer,
    recorded: JsonValue = None,
    transport: Literal["stdio", "http"] = "stdio",
) -> Outcome:
    """One client program against one lane: recorded, or replayed where a recording is given."""
    phase: Phase = "record" if recorded is None else "replay"
    session = Session(id="x", phase=phase, folder=folder, mcp=(server,), agent_cwd=str(folder))

    async def go() -> Outcome:
        lanes = Lanes(session, {} if recorded is None else {server.name: recorded}, lambda event: None)
        try:
            await lanes.start()
            host, port = lanes.upstream(server.name)
            target = lanes.server_path(server.name) if transport == "stdio" else f"http://{host}:{port}/mcp"
            said = await _spoken([*client.argv, target, client.mode, json.dumps(script)], folder)
        finally:
            result = (await lanes.close())[server.name]
        lane = result.lane
        assert isinstance(lane, dict)
        remarks = lane.pop("remarks", [])
        return Outcome(said, lane, result.findings, remarks)

    return asyncio.run(go())


async def _spoken(argv: list[str], cwd: Path) -> JsonValue:
    process = await asyncio.create_subprocess_exec(
        *argv, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=cwd
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()[-3000:]
    said: JsonValue = json.loads(out.splitlines()[-1])
    return said


@dataclass(slots=True)
class Spawned:
    """A stand-in spawned as an agent's client would, spoken to line by line."""

    process: asyncio.subprocess.Process

    async def say(self, *messages: Mapping[str, JsonValue]) -> None:
        """Send messages, one a line."""
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self.process.stdin.drain()

    async def line(self) -> bytes:
        """The next line; empty at the end."""
        assert self.process.stdout is not None
        return await asyncio.wait_for(self.process.stdout.readline(), 20)

    async def hear(self) -> dict[str, JsonValue]:
        """The next message."""
        heard: dict[str, JsonValue] = json.loads(await self.line())
        return heard

    async def opened(self) -> dict[str, JsonValue]:
        """Shake hands."""
        params: JsonValue = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        await self.say({"id": 0, "method": "initialize", "params": params})
        answer = await self.hear()
        await self.say({"method": "notifications/initialized"})
        return answer

    async def end(self) -> tuple[bytes, bytes]:
        """Wait until it is gone, which it is with its lane; the rest of what it wrote."""
        return await asyncio.wait_for(self.process.communicate(), 20)

    async def call(self, id_: int, tool: str = "go", **arguments: JsonValue) -> None:
        """Send a tool call."""
        await self.say({"id": id_, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})


async def spawned(path: str, cwd: Path) -> Spawned:
    """Spawn a stand-in with nothing in its environment."""
    process = await asyncio.create_subprocess_exec(
        path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd,
        env={},
        limit=2**26,
    )
    return Spawned(process)
