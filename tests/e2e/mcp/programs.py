"""Client programs that stay up for many sessions, and one session of a program against one lane."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from tests.e2e.mcp.lanes import HERE, NODE_MODULES, PEERS, PYTHON_1, PYTHON_2, Transport

from flowproof_addons.session import McpServer, Session
from flowproof_addons.trace import file
from flowproof_addons.trace.model import JsonValue, Trace
from flowproof_runner.boundary.client import Boundary

_PATIENCE_S = 180.0
_NUMBERS = count(1)

type Script = Sequence[JsonValue]


@dataclass(frozen=True, slots=True)
class Client:
    """A client program; one without its own `seen` can list and call tools, no more."""

    name: str
    argv: tuple[str, ...]
    needs: Path | None = None
    whole: bool = True
    """It answers the server's requests, reads resources, cancels calls."""


def _framework(name: str, python: Path) -> Client:
    return Client(name, (str(python), str(HERE / "clients/frameworks.py"), name), python, whole=False)


CLIENTS = {
    client.name: client
    for client in (
        Client("py-2-auto", (sys.executable, str(HERE / "clients/py2.py"), "auto")),
        Client("py-2-legacy", (sys.executable, str(HERE / "clients/py2.py"), "legacy")),
        Client("py-1", (str(PYTHON_1), str(HERE / "clients/py1.py")), PYTHON_1),
        Client("ts-2-auto", ("node", str(PEERS / "client.mjs"), "auto"), NODE_MODULES),
        Client("ts-2-legacy", ("node", str(PEERS / "client.mjs"), "legacy"), NODE_MODULES),
        Client("ts-1", ("node", str(PEERS / "client.mjs"), "sdk-1"), NODE_MODULES),
        _framework("langchain", PYTHON_1),
        _framework("openai-agents", PYTHON_1),
        _framework("pydantic-ai", PYTHON_2),
        _framework("fastmcp", PYTHON_2),
    )
}


@dataclass(slots=True)
class Program:
    """A client program that runs."""

    process: asyncio.subprocess.Process
    _numbers: count[int] = field(default_factory=count)
    _waiting: dict[int, asyncio.Future[JsonValue]] = field(default_factory=dict)

    async def session(self, target: str, script: Script) -> JsonValue:
        """Open a session with the server, run the script; what came back."""
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"id": number, "target": target, "script": script}).encode() + b"\n")
        async with asyncio.timeout(_PATIENCE_S):
            said: JsonValue = await answer
        return said

    async def listen(self) -> None:
        """Hand the program's answers out."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            said = json.loads(line)
            answer = self._waiting.pop(said["id"])
            if answer.done():
                continue  # nobody waited any longer
            if "failed" in said:
                answer.set_exception(AssertionError(said["failed"]))
            else:
                answer.set_result(said["said"])
        for answer in self._waiting.values():
            answer.set_exception(AssertionError("the client program ended"))


@asynccontextmanager
async def program(client: Client, folder: Path) -> AsyncIterator[Program]:
    """Start a client program; it ends with the block."""
    with (folder / "client.stderr").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *client.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            cwd=folder,
            limit=2**24,
        )
    running = Program(process)
    listening = asyncio.create_task(running.listen())
    try:
        yield running
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
        await listening


@dataclass(frozen=True, slots=True)
class Outcome:
    """One session against one lane."""

    said: JsonValue
    lane: JsonValue
    findings: JsonValue


async def play(
    boundary: Boundary,
    folder: Path,
    running: Program,
    script: Script,
    server: McpServer,
    over: Transport,
    recorded: JsonValue = None,
) -> Outcome:
    """One session through the boundary, recorded, or replayed where a recording is given."""
    number = next(_NUMBERS)
    own, cassette = folder / str(number), None
    own.mkdir()
    if recorded is not None:
        cassette = own / "recorded.trace.json"
        file.save(cassette, Trace("", "2026-01-01T00:00:00Z", "0" * 64, (), {server.name: recorded}))
    session = Session(
        id=str(number),
        phase="record" if cassette is None else "replay",
        folder=own,
        cassette=cassette,
        mcp=(server,),
        agent_cwd=str(folder),
    )
    opened = await asyncio.to_thread(boundary.open, session)
    try:
        addresses = opened.mcp_servers if over == "stdio" else opened.mcp_urls
        said = await running.session(addresses[server.name], script)
    finally:
        outcome = await asyncio.to_thread(opened.close)
    lane = outcome.lanes[server.name]
    assert isinstance(lane, dict)
    return Outcome(said, lane["lane"], lane["findings"])
