"""Recording over stdio: each stand-in gets a real server process; lines pass unchanged in both directions."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp import process
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.record import Recording
from flowproof_addons.mcp.stdio import Pipe, finish, lines
from flowproof_addons.session import McpServer


@dataclass(slots=True)
class Servers:
    """The real processes of one stdio server: one per stand-in, the first started before the agent."""

    declared: McpServer
    lane: Recording
    cwd: str
    folder: Path
    """For what they write to stderr."""
    stderr: list[Path] = field(default_factory=list)
    _warm: process.Server | None = None
    _running: list[process.Server] = field(default_factory=list)
    _stopping: set[asyncio.Task[int]] = field(default_factory=set)

    async def warm(self) -> None:
        """Start one and let it come up. Raises ServerStartError."""
        self._warm = await self._start(self.declared.cwd or self.cwd)
        began = time.monotonic()
        await self._warm.settle(self.declared.startup_s)
        if self._warm.process.returncode is not None:
            raise process.ServerStartError(
                f"mcp.{self.declared.name}: {' '.join(self.declared.command)!r} ended with status "
                f"{self._warm.process.returncode} after {time.monotonic() - began:.1f} s, before the agent started; "
                f"{self._warm.last_words()}"
            )

    async def serve(self, pipe: Pipe) -> None:
        """Connect one stand-in to a process of its own until either ends."""
        server = await self._take(self.declared.cwd or pipe.cwd)
        link = _Link(self, pipe, server)
        up, down = asyncio.create_task(link.up()), asyncio.create_task(link.down())
        try:
            await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
            if up.done():
                await finish(pipe, self.lane.owes)
        finally:
            self._running.remove(server)
            stopping = self._stop(server)
            await _cancelled(up, down)
            await asyncio.shield(stopping)

    async def close(self) -> None:
        """End whatever still runs."""
        for server in (*self._running, *((self._warm,) if self._warm else ())):
            self._stop(server)
        await asyncio.gather(*self._stopping)

    def _stop(self, server: process.Server) -> asyncio.Task[int]:
        """End a server, to the end, even if whoever waits for it is cancelled."""
        task = asyncio.get_running_loop().create_task(server.stop())
        self._stopping.add(task)
        return task

    async def _take(self, cwd: str) -> process.Server:
        server, self._warm = self._warm, None
        if server is not None and server.cwd != cwd:
            self._stop(server)
            server = None
        server = server or await self._start(cwd)
        self._running.append(server)
        return server

    async def _start(self, cwd: str) -> process.Server:
        path = self.folder / f"mcp-{self.declared.name}-{len(self.stderr) + 1}.stderr"
        self.stderr.append(path)
        return await process.start(self.declared.command, self.declared.env, cwd, path)


@dataclass(slots=True)
class _Link:
    """One stand-in and its process."""

    owner: Servers
    pipe: Pipe
    server: process.Server

    async def up(self) -> None:
        """Agent to server."""
        async for line in lines(self.pipe.reader):
            passed = self._pass(line)
            if passed is not None:
                with suppress(ConnectionError):
                    self.server.stdin.write(passed)
                    await self.server.stdin.drain()

    async def down(self) -> None:
        """Server to agent."""
        try:
            async for line in lines(self.server.stdout):
                await self._deliver(line)
        except asyncio.LimitOverrunError:
            self._fail("too-long", f"sent a message of more than {process.LINE_LIMIT // 2**20} MiB")
            return
        status = await self.server.process.wait()
        open_ = self.owner.lane.open(self.pipe)
        during = f" while {rpc.method(open_[0].message)} was open" if open_ else ""
        self._fail("died", f"ended with status {status}{during}")

    def _pass(self, line: bytes) -> bytes | None:
        """What of a line of the agent goes on to the server."""
        messages = rpc.read(line)
        if messages is None:
            return line
        forwarded: list[Message] = []
        for message in messages:
            local = self.owner.lane.from_agent(self.pipe, message)
            if local is not None and local.silent_s is not None:
                asyncio.get_running_loop().call_later(local.silent_s, self.pipe.hang_up, message)
                continue
            if local is not None:
                self.pipe.answer(message, local.outcome)
                continue
            forwarded.append(message)
            if rpc.kind(message) == "request" and rpc.method(message) != rpc.LISTEN:
                limit = self.owner.declared.call_s
                asyncio.get_running_loop().call_later(limit, self._hung, message)
        if len(forwarded) == len(messages):
            return line
        return b"".join(rpc.write(message) + b"\n" for message in forwarded) or None

    async def _deliver(self, line: bytes) -> None:
        """A line of the server, to the agent."""
        lane, messages = self.owner.lane, rpc.read(line)
        if messages is None:
            if line.strip():
                lane.journal.remark(f"the server wrote a line to stdout that is not JSON-RPC: {line[:80]!r}")
            self.pipe.line(line)
            return
        given: list[Message] = []
        for message in messages:
            await lane.hold(self.pipe, message)
            given.append(lane.from_server(self.pipe, message))
        unchanged = all(new is old for new, old in zip(given, messages, strict=True))
        self.pipe.line(line if unchanged else b"".join(rpc.write(message) + b"\n" for message in given))
        await self.pipe.writer.drain()

    def _hung(self, message: Message) -> None:
        if any(o.message is message for o in self.owner.lane.open(self.pipe)):
            named = rpc.tool(rpc.method(message), rpc.params(message)) or rpc.method(message)
            self._fail("hung", f"did not answer {named} within {self.owner.declared.call_s:g} s")
            self.owner.lane.forget(message)
            self.pipe.answer(message, rpc.error("the MCP server did not answer in time"))

    def _fail(self, what: str, words: str) -> None:
        name = self.owner.declared.name
        self.owner.lane.findings.add(
            f"mcp.server.{what}",
            f"mcp.{name}: the server {words}; {self.server.last_words()}",
            problem=True,
        )


async def _cancelled(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
