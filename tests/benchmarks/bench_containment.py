"""What containment costs: a trapped call, a thousand HTTP connections, a launch.

    uv run python tests/benchmarks/bench_containment.py

Targets: loopback connections at most 1.6 times as long with urllib and 1.5 times with Node's fetch; a launch at most
60 ms. Machines change their speed within seconds, so the plain and the contained client take turns, 50 connections
each; where the kernel places processes differs from start to start, so both are started five times.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from flowproof_runner.containment.contained import Contained
from flowproof_runner.containment.policy import Policy

CALLS = """
import json, os, socket, statistics, time
def timed(act, count=2000):
    times = []
    for _ in range(count):
        began = time.perf_counter(); act(); times.append((time.perf_counter() - began) * 1e6)
    return [min(times), statistics.median(times)]
server = socket.create_server(("127.0.0.1", 0)); address = server.getsockname()
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
def over_unix():
    one.sendmsg([b"x" * 64]); other.recv(100)
def tcp():
    with socket.create_connection(address): server.accept()[0].close()
def denied():
    socket.socket().connect_ex(("192.0.2.1", 9))
def unlinked():
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY)); os.unlink("file")
def read():
    os.close(os.open("/dev/null", os.O_RDONLY))
found = {"connect (UDP, loopback)": timed(lambda: udp.connect(address)), "connect, accept, close (TCP)": timed(tcp),
         "sendmsg and recv (AF_UNIX, 64 bytes)": timed(over_unix), "create and unlink": timed(unlinked),
         "open to read (not trapped)": timed(read)}
if os.environ.get("DENIED"):
    found["connect (refused)"] = timed(denied)
print(json.dumps(found))
"""
SERVER = """
import socket
server = socket.create_server(("127.0.0.1", 0), backlog=128)
print(server.getsockname()[1], flush=True)
while True:
    one = server.accept()[0]
    one.recv(65536); one.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")
    one.close()
"""
URLLIB = """
import sys, time, urllib.request
for count in sys.stdin:
    began = time.perf_counter()
    for _ in range(int(count)): urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/").read()
    print(time.perf_counter() - began, flush=True)
"""
NODE = """
const url = `http://127.0.0.1:${process.argv[1]}/`;
(async () => { for await (const count of require('readline').createInterface({input: process.stdin})) {
  const began = performance.now();
  for (let i = 0; i < count; i++) await (await fetch(url, {headers: {connection: 'close'}})).text();
  console.log((performance.now() - began) / 1000) } })()
"""
SLICES, SLICE = 60, 50


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _calls(Path(folder))
        _http(Path(folder))
        print()
        _launch(Path(folder))


def _calls(folder: Path) -> None:
    plain = json.loads(_plain([sys.executable, "-c", CALLS], folder))
    contained = json.loads(_contained([sys.executable, "-c", CALLS], folder, DENIED="1"))
    print("µs per call, minimum / median           plain           contained")
    for name, (least, median) in contained.items():
        before = "{:6.1f} / {:6.1f}".format(*plain[name]) if name in plain else " " * 15
        print(f"{name:38} {before}   {least:6.1f} / {median:6.1f}")


def _http(folder: Path) -> None:
    clients = {"urllib": [sys.executable, "-c", URLLIB]}
    if node := shutil.which("node"):
        clients["node fetch"] = [node, "-e", NODE]
    print(f"\nHTTP connections, µs each, median of {SLICES} x {SLICE}       plain   contained   ratio")
    with _server() as port:
        for name, words in clients.items():
            ratios = []
            for _ in range(5):
                with _Client([*words, port]) as plain, _Client([*words, port], folder) as contained:
                    pairs = [(plain.take(SLICE), contained.take(SLICE)) for _ in range(SLICES)]
                before, after = (statistics.median(times) for times in zip(*pairs, strict=True))
                ratios.append(after / before)
                print(f"{name:48} {before:8.0f}    {after:8.0f}   {ratios[-1]:5.2f}")
            print(f"{name:48} {'median of five':>20}   {statistics.median(ratios):5.2f}")


class _Client:
    """A client that makes connections when told to, so that two of them can take turns within milliseconds."""

    def __init__(self, words: list[str], contained_in: Path | None = None) -> None:
        ours, theirs = socket.socketpair()
        self._ended = ExitStack()
        with theirs:
            fd = theirs.fileno()
            if contained_in is None:
                self._ended.callback(subprocess.Popen(words, stdin=fd, stdout=fd).wait)
            else:
                program = Contained(Policy(), contained_in / "run")
                self._ended.callback(program.spawn(words, os.environ, contained_in, stdin=fd, stdout=fd, stderr=2).stop)
        self._talk = self._ended.enter_context(ours.makefile("rw", buffering=1))
        self._ended.enter_context(ours)

    def take(self, count: int) -> float:
        """Make that many connections; gives the microseconds each took."""
        self._talk.write(f"{count}\n")
        return float(self._talk.readline()) / count * 1e6

    def __enter__(self) -> Self:
        self.take(SLICE)  # what is made once is not what is measured
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.close()


def _launch(folder: Path) -> None:
    true = [shutil.which("true") or "true"]
    pairs = [(_ms(lambda: _plain(true, folder)), _ms(lambda: _contained(true, folder))) for _ in range(31)]
    for summed in (min, statistics.median):
        plain, contained = (summed(times) for times in zip(*pairs, strict=True))
        print(
            f"launch of `true`, ms, {summed.__name__:7} {plain:18.1f}  {contained:10.1f}   cost {contained - plain:.1f}"
        )


def _ms(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def _plain(words: list[str], folder: Path) -> str:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout


def _contained(words: list[str], folder: Path, **env: str) -> str:
    with tempfile.TemporaryFile() as out:
        process = Contained(Policy(), folder / "run").spawn(words, {**os.environ, **env}, folder, stdout=out, stderr=2)
        process.wait()
        process.stop()
        out.seek(0)
        return out.read().decode()


@contextmanager
def _server() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


if __name__ == "__main__":
    main()
