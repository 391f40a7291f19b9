"""A scripted model server: raw bytes, exact timing, cut connections; nothing a framework would tidy up."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Any, Self

PATIENCE_S = 30.0


class Cut(Enum):
    """How a connection ends before its answer does."""

    CLOSE = "close"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class Hold:
    """Wait here until somebody asks for `/acknowledge/NAME`; an answer nobody waited for is a failed test."""

    name: str


type Step = bytes | Hold | Cut


@dataclass(frozen=True, slots=True)
class Seen:
    """One request, as it came over the wire."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        """The last header of this name, whatever its case."""
        return {k.lower(): v for k, v in self.headers}.get(name.lower())


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: `steps` in order, each flushed before the next begins."""

    steps: tuple[Step, ...] = ()
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    chunked: bool = False
    """False: a Content-Length; True: chunked, a chunk per step."""
    length: int | None = None
    """A Content-Length of its own, for answers that break off."""


def reply(value: object, status: int = 200, **headers: str) -> Answer:
    """A JSON answer."""
    named = tuple((name.replace("_", "-"), text) for name, text in headers.items())
    return Answer((json.dumps(value, ensure_ascii=False).encode(),), status, headers=named)


def stream(frames: Iterable[Step], content_type: str = "text/event-stream") -> Answer:
    """A streamed answer, one chunk a frame."""
    return Answer(tuple(frames), content_type=content_type, chunked=True)


def sse(*values: object, done: bool = True) -> tuple[bytes, ...]:
    """Frames of unnamed server-sent events, as OpenAI's chat API sends them."""
    frames = [b"data: " + json.dumps(v, ensure_ascii=False).encode() + b"\n\n" for v in values]
    return (*frames, *((b"data: [DONE]\n\n",) if done else ()))


def named(*events: Mapping[str, object]) -> tuple[bytes, ...]:
    """Frames of events named by their `type`, as Anthropic and the Responses API send them."""
    return tuple(
        f"event: {e['type']}\n".encode() + b"data: " + json.dumps(e, ensure_ascii=False).encode() + b"\n\n"
        for e in events
    )


type Handler = Callable[[Seen], Answer]


@dataclass(slots=True)
class Upstream:
    """The server, on a thread of its own. `handler` may be changed between requests; `seen` is what came."""

    handler: Handler
    seen: list[Seen] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """Holds that nobody released: what should have been relayed was not."""
    connections: int = 0
    port: int = 0
    tls: ssl.SSLContext | None = None
    """Given: it speaks https, as whoever the certificate says."""
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _gates: dict[str, asyncio.Event] = field(default_factory=dict)
    _server: asyncio.Server | None = None
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        up = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(up,), name="upstream")
        self._thread.start()
        assert up.wait(PATIENCE_S)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Base URL, without `/v1`."""
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"

    @property
    def bodies(self) -> list[Any]:
        """Every request's JSON, in order."""
        return [seen.json for seen in self.seen if seen.body]

    def stop(self) -> None:
        """Close the listener and every connection; from here on the port refuses. Twice is once."""
        if self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._thread = None

    def _serve(self, up: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        starting = asyncio.start_server(self._connection, "127.0.0.1", self.port, ssl=self.tls)
        self._server = self._loop.run_until_complete(starting)
        self.port = self._server.sockets[0].getsockname()[1]
        up.set()
        self._loop.run_forever()
        self._server.close()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (seen := await _read(reader)) is not None:
                if seen.path.startswith("/acknowledge/"):
                    self._gate(seen.path.removeprefix("/acknowledge/")).set()
                    await _write(writer, reply({}), self._hold)
                    continue
                self.seen.append(seen)
                if not await _write(writer, self.handler(seen), self._hold):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _hold(self, name: str) -> None:
        try:
            await asyncio.wait_for(self._gate(name).wait(), PATIENCE_S)
        except TimeoutError:
            self.missed.append(name)

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ", 2)
    pairs = [line.partition(":") for line in lines]
    headers = tuple((name, value.strip()) for name, _, value in pairs)
    lowered = {name.lower(): value for name, value in headers}
    if "chunked" in lowered.get("transfer-encoding", ""):
        return Seen(method, target, headers, await _chunks(reader))
    return Seen(method, target, headers, await reader.readexactly(int(lowered.get("content-length", "0"))))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


async def _write(writer: asyncio.StreamWriter, answer: Answer, hold: Callable[[str], Any]) -> bool:
    """Send an answer; False when the connection is over with it."""
    size = answer.length if answer.length is not None else sum(len(s) for s in answer.steps if isinstance(s, bytes))
    length = ("transfer-encoding", "chunked") if answer.chunked else ("content-length", str(size))
    head = [("content-type", answer.content_type), *answer.headers, length]
    lines = "".join(f"{name}: {value}\r\n" for name, value in head)
    writer.write(f"HTTP/1.1 {answer.status} Scripted\r\n{lines}\r\n".encode("latin-1"))
    for step in answer.steps:
        match step:
            case bytes():
                writer.write(b"%x\r\n%s\r\n" % (len(step), step) if answer.chunked else step)
                await writer.drain()
            case Hold():
                await hold(step.name)
            case Cut.CLOSE:
                return False
            case Cut.RESET:
                writer.transport.abort()
                return False
    if answer.chunked:
        writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
