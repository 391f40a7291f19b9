"""The stdio side of a lane: what stand-ins connect to, and the pipe to the agent behind each."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp import standin
from flowproof_addons.mcp.conductor import PATIENCE_S
from flowproof_addons.mcp.listener import Listener
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.peer import Peer
from flowproof_addons.mcp.process import LINE_LIMIT
from flowproof_addons.mcp.replay import Replay

_POLL_S = 0.005


@dataclass(slots=True)
class Batch:
    """The requests of one line; they are answered in one line too."""

    requests: list[Message]
    answers: list[Message] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Pipe:
    """The agent's end of one spawned stand-in."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    cwd: str
    session: int | None = None
    answered: float = float("-inf")
    _batches: list[Batch] = field(default_factory=list)

    def batch(self, messages: list[Message]) -> None:
        """These came in one line."""
        requests = [message for message in messages if rpc.kind(message) == "request"]
        if requests:
            self._batches.append(Batch(requests))

    def answer(self, request: Message, outcome: Message, status: int = 200) -> None:
        """Write an answer line; a batch's with its last answer."""
        message = rpc.answer(rpc.request_id(request), outcome)
        batch = next((b for b in self._batches if any(each is request for each in b.requests)), None)
        if batch is None:
            self.line(rpc.write(message))
            return
        batch.answers.append(message)
        if len(batch.answers) == len(batch.requests):
            self._batches.remove(batch)
            self.line(rpc.write([*batch.answers]))

    def hang_up(self, request: Message) -> None:
        """Close the pipe: the stand-in ends."""
        self.writer.close()

    def send(self, message: Message, within: Message | None) -> None:
        """Write a message of the server's own."""
        self.line(rpc.write(message))

    def line(self, data: bytes) -> None:
        """Write one line."""
        if not self.writer.is_closing():
            self.writer.write(data if data.endswith(b"\n") else data + b"\n")


type Serve = Callable[[Pipe], Awaitable[None]]


@dataclass(slots=True)
class Door:
    """Where the stand-ins of one server connect."""

    name: str
    folder: Path
    serve: Serve
    path: str = ""
    """The stand-in's executable."""
    _token: bytes = field(default_factory=lambda: secrets.token_hex(16).encode())
    _listener: Listener | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def open(self) -> None:
        """Listen, and write the executable."""
        address = str(self.folder / f"{self.name}.sock")
        sock = socket.socket(socket.AF_UNIX)
        sock.bind(address)
        self._listener = Listener(sock, self._protocol)
        self.path = str(standin.write(self.folder, self.name, address, self._token.decode()))

    async def close(self) -> None:
        """Cut every stand-in off."""
        if self._listener is not None:
            await self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(LINE_LIMIT), self._connected)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            hello = await reader.readuntil(standin.HELLO_END)
            token, _, cwd = hello.removesuffix(standin.HELLO_END).split(b"\0", 2)
            if secrets.compare_digest(token, self._token):
                await self.serve(Pipe(reader, writer, cwd.decode(errors="surrogateescape")))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the stand-in was killed, or the session ends: both are an end like any other
        finally:
            writer.close()
            self._tasks.discard(task)


async def lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The lines of a stream, ends included; a last one without its end too.

    Raises asyncio.LimitOverrunError for a line over the limit.
    """
    while True:
        try:
            yield await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                yield error.partial
            return
        except ConnectionError:
            return


def replaying(lane: Replay) -> Serve:
    """Serve stand-ins from a recorded lane."""

    async def serve(pipe: Pipe) -> None:
        try:
            async for line in lines(pipe.reader):
                messages = rpc.read(line) or []
                if rpc.batched(line):
                    pipe.batch(messages)
                for message in messages:
                    lane.receive(pipe, message)
            await finish(pipe, lane.owes)
        finally:
            lane.leave(pipe)

    return serve


async def finish(pipe: Pipe, owes: Callable[[Peer], bool]) -> None:
    """After the agent's last line: let the answers it is still owed out, as a server used in a shell pipe would."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            while owes(pipe) and not pipe.writer.is_closing():
                await asyncio.sleep(_POLL_S)
            await pipe.writer.drain()
