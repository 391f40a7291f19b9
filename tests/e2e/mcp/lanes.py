"""Where the peers are, HTTP servers that listen, and stand-ins spoken to line by line."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from tests.e2e import groups

from flowproof_addons.trace.model import JsonValue

HERE = Path(__file__).parent
PEERS = HERE / "peers"
PYTHON_1 = PEERS / "python-1" / "bin" / "python"
PYTHON_2 = PEERS / "python-2" / "bin" / "python"
NODE_MODULES = PEERS / "node_modules"

type Transport = Literal["stdio", "http"]


@dataclass(frozen=True, slots=True)
class Listening:
    """An HTTP server that runs."""

    url: str
    stop: Callable[[], None]


def listen(argv: Sequence[str], env: Mapping[str, str]) -> Listening:
    """Start an HTTP server; `{port}` stands for a free port in words and values."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    filled = [word.replace("{port}", str(port)) for word in argv]
    environment = os.environ | {name: value.replace("{port}", str(port)) for name, value in env.items()}
    process = subprocess.Popen(
        filled, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return Listening(f"http://127.0.0.1:{port}/mcp", partial(groups.end, process))
        except OSError:
            time.sleep(0.02)
    groups.end(process)
    raise AssertionError(f"{argv} does not listen")


@dataclass(slots=True)
class Spawned:
    """A stand-in spawned as an agent's client would, spoken to line by line."""

    process: asyncio.subprocess.Process

    async def say(self, *messages: Mapping[str, JsonValue]) -> None:
        """Send messages, one a line."""
        for message in messages:
            await self.raw({"jsonrpc": "2.0", **message})

    async def raw(self, value: JsonValue) -> None:
        """Send a line of JSON."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(value).encode() + b"\n")
        await self.process.stdin.drain()

    async def line(self) -> bytes:
        """The next line; empty at the end."""
        assert self.process.stdout is not None
        return await asyncio.wait_for(self.process.stdout.readline(), 60)

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
        return await asyncio.wait_for(self.process.communicate(), 60)

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
