"""What containment costs: a trapped call, a thousand HTTP connections, a launch.

    uv run python tests/benchmarks/bench_containment.py

Targets: 1,000 loopback connections at most 1.6 times as long with urllib and 1.5 times with Node's fetch; a launch at
most 60 ms. A busy machine makes every figure worse, so of several rounds the fastest is given beside the median.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

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
began = time.perf_counter()
for _ in range(1000): urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/").read()
print(time.perf_counter() - began)
"""
NODE = """
const url = `http://127.0.0.1:${process.argv[1]}/`; const began = performance.now();
(async () => { for (let i = 0; i < 1000; i++) await (await fetch(url, {headers: {connection: 'close'}})).text();
  console.log((performance.now() - began) / 1000) })()
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _calls(Path(folder))
        _http(Path(folder))
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
    print("\n1,000 HTTP connections, seconds         plain   contained   ratio   (fastest of five, then medians)")
    with _server() as port:
        for name, words in clients.items():
            pairs = [
                (float(_plain([*words, port], folder)), float(_contained([*words, port], folder))) for _ in range(5)
            ]
            for summed in (min, statistics.median):
                plain, contained = (summed(times) for times in zip(*pairs, strict=True))
                print(f"{name:38} {plain:6.3f}      {contained:6.3f}   {contained / plain:5.2f}")


def _launch(folder: Path) -> None:
    true = shutil.which("true") or "true"
    contained = _median_ms(lambda: _contained([true], folder))
    plain = _median_ms(lambda: _plain([true], folder))
    print(f"\nlaunch of `true`, ms                   {plain:6.1f}      {contained:6.1f}   cost {contained - plain:.1f}")


def _median_ms(act: Callable[[], object], count: int = 21) -> float:
    times = []
    for _ in range(count):
        began = time.perf_counter()
        act()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


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
