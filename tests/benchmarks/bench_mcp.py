"""What an MCP call costs through a lane, beside a direct connection and beside mcp-cassette.

    uv run python tests/benchmarks/bench_mcp.py [--calls 400] [--cassette PATH-OF-MCP-CASSETTE]

spawn    stdio: from spawning the server's command to its first answer
stdio    one call after another over one pipe: p50 and p99; `added` is what a recording adds to the direct call
http     the same over one keep-alive connection; the direct server answers from the same process model
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from flowproof_addons.session import McpServer, Session
from flowproof_addons.trace import file
from flowproof_addons.trace.model import JsonValue, Phase, Trace
from flowproof_runner.boundary.client import Boundary, BoundarySession
from flowproof_runner.boundary.process import BoundaryProcess

SPAWNS = 15
WARM = 20
SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = {"content": [{"type": "text", "text": "fine"}]}
        if message["method"] == "initialize":
            server = {"name": "bench", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
HTTP_SERVER = """
import asyncio, json
from flowproof_addons.mcp.http import HttpDoor
async def answer(exchange):
    message = json.loads(exchange.body)
    result = {"content": [{"type": "text", "text": "fine"}], "protocolVersion": "2025-11-25", "capabilities": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
    exchange.respond(200 if "id" in message else 202, body, {"content-type": "application/json"})
async def main():
    door = HttpDoor(answer)
    await door.open()
    print(door.address[1], flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""
OPENING: JsonValue = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}

type Times = list[float]
type Send = Callable[[dict[str, JsonValue]], None]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What an MCP call costs through a lane.")
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--cassette", type=Path, help="mcp-cassette's executable, to measure beside ours")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "server.py").write_text(SERVER)
        (folder / "http.py").write_text(HTTP_SERVER)
        with Boundary(BoundaryProcess(folder / "boundary")) as boundary:
            stdio(folder, boundary, options.calls, options.cassette)
            over_http(folder, boundary, options.calls)


def stdio(folder: Path, boundary: Boundary, calls: int, peer: Path | None) -> None:
    """Spawns and calls over stdio."""
    argv = [sys.executable, str(folder / "server.py")]
    declared = McpServer(name="bench", command=tuple(argv))
    direct = [piped(argv, calls) for _ in range(2)][-1]
    with opened(boundary, folder / "recorded", declared) as session:
        recorded = piped([session.mcp_servers["bench"]], calls)
        cassette = folder / "bench.trace.json"
        kept(session, cassette)
    with opened(boundary, folder / "replayed", declared, cassette) as session:
        replayed = piped([session.mcp_servers["bench"]], calls)
    spawned(folder, boundary, declared, argv, peer)
    rows = [("direct", direct), ("recorded", recorded), ("replayed", replayed)]
    if peer is not None:
        rows.append(("mcp-cassette", piped(recorded_by(peer, folder, argv, calls), calls)))
    table("stdio", rows)


def spawned(folder: Path, boundary: Boundary, declared: McpServer, argv: Sequence[str], peer: Path | None) -> None:
    """From a spawn to the first answer."""
    with opened(boundary, folder / "spawn-record", declared) as session:
        piped([session.mcp_servers["bench"]], 0)
        cassette = folder / "spawn.trace.json"
        kept(session, cassette)
    commands = {"direct": list(argv)}
    if peer is not None:
        commands["mcp-cassette"] = recorded_by(peer, folder, argv, 1)
    with opened(boundary, folder / "spawn-replay", declared, cassette) as session:
        commands["replayed"] = [session.mcp_servers["bench"]]
        times = {name: [first_answer(command) for _ in range(SPAWNS)] for name, command in commands.items()}
    for name, found in times.items():
        print(f"spawn  {name:13} min {min(found):7.1f} ms   p50 {statistics.median(found):7.1f} ms")


def over_http(folder: Path, boundary: Boundary, calls: int) -> None:
    """Calls over streamable HTTP."""
    with serving([sys.executable, str(folder / "http.py")]) as port:
        url = f"http://127.0.0.1:{port}/mcp"
        declared = McpServer(name="bench", url=url)
        direct = [posted(url, calls) for _ in range(2)][-1]
        with opened(boundary, folder / "http-recorded", declared) as session:
            recorded = posted(session.mcp_urls["bench"], calls)
            cassette = folder / "http.trace.json"
            kept(session, cassette)
    with opened(boundary, folder / "http-replayed", declared, cassette) as session:
        replayed = posted(session.mcp_urls["bench"], calls)
    table("http", [("direct", direct), ("recorded", recorded), ("replayed", replayed)])


def table(title: str, rows: Sequence[tuple[str, Times]]) -> None:
    """Print percentiles, and what each adds to the first row."""
    base = statistics.median(rows[0][1])
    for name, times in rows:
        p50, p99 = statistics.median(times), sorted(times)[int(len(times) * 0.99)]
        print(f"{title:6} {name:13} p50 {p50:7.3f} ms   p99 {p99:7.3f} ms   min {min(times):7.3f}   +{p50 - base:.3f}")


@contextmanager
def opened(
    boundary: Boundary, folder: Path, server: McpServer, cassette: Path | None = None
) -> Iterator[BoundarySession]:
    """A session with one MCP server; closed by `kept` when it records, here when it replays."""
    folder.mkdir()
    phase: Phase = "record" if cassette is None else "replay"
    session = boundary.open(
        Session(id=folder.name, phase=phase, folder=folder, cassette=cassette, mcp=(server,), agent_cwd=str(folder))
    )
    yield session
    if cassette is not None:
        outcome = session.close()
        (lane,) = outcome.lanes.values()
        assert isinstance(lane, dict)
        assert not lane["findings"], lane["findings"]


def kept(session: BoundarySession, cassette: Path) -> None:
    """End a recording and keep it."""
    outcome = session.close()
    lanes: dict[str, JsonValue] = {n: v["lane"] for n, v in outcome.lanes.items() if isinstance(v, dict)}
    file.save(cassette, Trace("flowproof benchmark", "2026-01-01T00:00:00Z", "0" * 64, (), lanes))


def piped(argv: Sequence[str], calls: int) -> Times:
    """Open a session over stdio and call; milliseconds of each call after the first few."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None

        def ask(message: dict[str, JsonValue]) -> float:
            assert process.stdin is not None and process.stdout is not None
            started = time.perf_counter()
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            if "id" in message:
                assert b'"result"' in process.stdout.readline()
            return (time.perf_counter() - started) * 1000

        times = conversation(ask, calls)
        process.stdin.close()
        return times


def posted(url: str, calls: int) -> Times:
    """The same over HTTP."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    connection.connect()
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

    def ask(message: dict[str, JsonValue]) -> float:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        started = time.perf_counter()
        connection.request("POST", parts.path, body, headers)
        response = connection.getresponse()
        data = response.read()
        taken = (time.perf_counter() - started) * 1000
        assert "id" not in message or b'"result"' in data, data
        if given := response.getheader("mcp-session-id"):
            headers["mcp-session-id"] = given
        return taken

    times = conversation(ask, calls)
    connection.close()
    return times


def conversation(ask: Callable[[dict[str, JsonValue]], float], calls: int) -> Times:
    """Open, then call one after the other."""
    ask({"id": 0, "method": "initialize", "params": OPENING})
    ask({"method": "notifications/initialized"})
    times = [
        ask({"id": n, "method": "tools/call", "params": {"name": "go", "arguments": {"n": n}}})
        for n in range(1, calls + 1)
    ]
    return times[WARM:] or times


def first_answer(argv: Sequence[str]) -> float:
    """Milliseconds from a spawn to the answer to `initialize`."""
    started = time.perf_counter()
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OPENING}).encode() + b"\n"
        )
        process.stdin.flush()
        assert b'"result"' in process.stdout.readline()
        taken = (time.perf_counter() - started) * 1000
        process.stdin.close()
    return taken


def recorded_by(peer: Path, folder: Path, argv: Sequence[str], calls: int) -> list[str]:
    """Record the same conversation with mcp-cassette; the command that replays it."""
    cassette = folder / f"peer-{calls}.json"
    piped([str(peer), "record", "--cassette", str(cassette), "--", *argv], calls)
    return [str(peer), "serve", str(cassette)]


@contextmanager
def serving(argv: Sequence[str]) -> Iterator[int]:
    """A server in a process of its own that prints its port."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
