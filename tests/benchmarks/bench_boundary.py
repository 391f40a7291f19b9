"""What a turn costs at the boundary, beside a bare asyncio server that answers the same bytes.

    uv run python tests/benchmarks/bench_boundary.py [--only latency|length|growth]

latency   one keep-alive client, requests of 2 KB, 20 KB and 200 KB: p50 of ours, of the bare server, and the ratio
length    2 KB requests against cassettes of 10 and of 2,000 turns: p50 and the ratio
growth    one conversation of 2,000 turns: size of the cassette, time to load it, memory of the replaying boundary
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from flowproof_addons.session import Session
from flowproof_addons.trace import body, file
from flowproof_addons.trace.model import Exchange, Trace
from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.process import BoundaryProcess

PATH = "/v1/chat/completions"
WARM = 50
_JSON = {"content-type": "application/json"}


def main() -> None:
    """Measure and print."""
    parts: dict[str, Callable[[Path], None]] = {"latency": latency, "length": length, "growth": growth}
    parser = argparse.ArgumentParser(description="The boundary's own cost.")
    parser.add_argument("--only", choices=parts)
    options = parser.parse_args()
    for name, part in parts.items():
        if options.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                part(Path(folder))


def latency(folder: Path) -> None:
    """Cost by size of the request."""
    for size in (2_000, 20_000, 200_000):
        requests = [single(i, size) for i in range(WARM + 400)]
        with replaying(folder / str(size), requests) as (port, _):
            ours = percentiles(port, requests)
        with bare() as port:
            theirs = percentiles(port, requests)
        print(
            f"{size // 1000:4} KB   boundary p50 {ours[0]:6.3f} ms p99 {ours[1]:6.3f} ms   bare asyncio p50"
            f" {theirs[0]:6.3f} ms p99 {theirs[1]:6.3f} ms   ratio {ours[0] / theirs[0]:.1f}"
        )


def length(folder: Path) -> None:
    """Cost by length of the cassette: the same 10 requests' worth of work, few and many recordings."""
    found = {}
    for turns in (10, 2_000):
        recordings = [single(i, 2_000) for i in range(turns)]
        asked = recordings[-10:]
        times: list[float] = []
        for attempt in range(30 if turns == 10 else 5):
            with replaying(folder / f"{turns}-{attempt}", recordings) as (port, _):
                times += exchanged(port, asked)[3:]
        found[turns] = statistics.median(times) * 1000
    print(
        f"10 turns p50 {found[10]:.3f} ms   2,000 turns p50 {found[2000]:.3f} ms   ratio {found[2000] / found[10]:.2f}"
    )


def growth(folder: Path) -> None:
    """A conversation that resends its whole history 2,000 times."""
    requests = list(conversation(2_000))
    cassette = folder / "growth.trace.json"
    started = time.perf_counter()
    file.save(cassette, trace(requests))
    saved = time.perf_counter() - started
    started = time.perf_counter()
    file.load(cassette)
    loaded = time.perf_counter() - started
    size, last, whole = cassette.stat().st_size, len(requests[-1]), sum(map(len, requests))
    with replaying(folder, requests, cassette) as (port, process):
        times = exchanged(port, requests)
        memory = process.memory_info().rss
    print(f"history of {last / 1e6:.1f} MB, {whole / 1e6:.0f} MB sent in all")
    print(f"cassette {size / 1e6:.2f} MB = {size / last:.2f} x its last request; saved in {saved:.2f} s")
    print(f"loaded in {loaded:.2f} s = {loaded / len(requests) * 1000:.2f} ms a turn")
    early, late = (statistics.median(part) * 1000 for part in (times[10:110], times[-100:]))
    print(f"boundary RSS {memory / 1e6:.0f} MB; p50 of the first turns {early:.2f} ms, of the last {late:.2f} ms")


def single(number: int, size: int) -> bytes:
    """A request of about `size` bytes, unlike all others."""
    text = f"question {number} " + "lorem ipsum dolor " * (size // 18)
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text[:size]}]}).encode()


def conversation(turns: int) -> Iterator[bytes]:
    """Requests that each hold all before them: a user's words and an assistant's."""
    messages: list[object] = [{"role": "system", "content": "You are terse."}]
    for i in range(turns):
        messages.append({"role": "user", "content": f"question {i} " + "lorem ipsum dolor " * 12})
        yield json.dumps({"model": "m", "messages": messages}).encode()
        messages.append({"role": "assistant", "content": f"answer {i} " + "sit amet " * 24})


def reply(number: int) -> bytes:
    """A completion."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": f"answer {number}"}}
    return json.dumps({"id": f"c-{number}", "object": "chat.completion", "choices": [choice]}).encode()


def trace(requests: Sequence[bytes]) -> Trace:
    """A trace with these turns."""
    exchanges = (
        Exchange(body.request("POST", PATH, _JSON, data), body.reply(200, _JSON, reply(i)), "openai-chat")
        for i, data in enumerate(requests)
    )
    return Trace("flowproof benchmark", "2026-01-01T00:00:00Z", "0" * 64, tuple(exchanges))


@contextmanager
def replaying(
    folder: Path, requests: Sequence[bytes], cassette: Path | None = None
) -> Iterator[tuple[int, psutil.Process]]:
    """A boundary that replays these requests: its port and its process."""
    folder.mkdir(exist_ok=True)
    if cassette is None:
        cassette = folder / "bench.trace.json"
        file.save(cassette, trace(requests))
    with Boundary(BoundaryProcess(folder / "boundary")) as boundary:
        session = boundary.open(Session(id="bench", phase="replay", folder=folder, cassette=cassette))
        mitmdump = next(p for p in psutil.Process().children() if "mitmdump" in " ".join(p.cmdline()))
        yield session.port, mitmdump
        outcome = session.close()
    assert not outcome.divergences and not outcome.problems, (outcome.divergences[:1], outcome.problems[:1])


@contextmanager
def bare() -> Iterator[int]:
    """A server that reads a request and answers a fixed completion; in a process of its own, like ours."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        asyncio.run(_bare(write))
        os._exit(0)
    os.close(write)
    try:
        yield int(os.read(read, 16))
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(read)


async def _bare(tell: int) -> None:
    data = reply(0)
    answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(data), data)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
                writer.write(answer)
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    os.write(tell, str(server.sockets[0].getsockname()[1]).encode())
    await server.serve_forever()


def percentiles(port: int, requests: Sequence[bytes]) -> tuple[float, float]:
    """p50 and p99 in milliseconds, the first ones left out."""
    times = sorted(exchanged(port, requests)[WARM:])
    return times[len(times) // 2] * 1000, times[int(len(times) * 0.99)] * 1000


def exchanged(port: int, requests: Sequence[bytes]) -> list[float]:
    """Seconds from the first byte sent to the last received, per request, over one connection."""
    times = []
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for data in requests:
            head = f"POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            message = f"{head}content-length: {len(data)}\r\n\r\n".encode() + data
            started = time.perf_counter()
            connection.sendall(message)
            status = _receive(connection)
            times.append(time.perf_counter() - started)
            assert status == b"200", status
    return times


def _receive(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, rest = data.partition(b"\r\n\r\n")
    left = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]) - len(rest)
    while left > 0:
        left -= len(connection.recv(65536))
    return head.split(b" ")[1]


if __name__ == "__main__":
    main()
