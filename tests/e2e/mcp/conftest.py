"""Clients by name, lanes to run them against, and servers that listen."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.e2e.mcp.lanes import CLIENTS, Client, Listening, Outcome, run_lane


@pytest.fixture
def client() -> Callable[[str], Client]:
    """The client program of that name; skips, naming it, where it is not installed (`peers/install`)."""

    def find(name: str) -> Client:
        found = CLIENTS[name]
        if found.needs is not None and not found.needs.exists():
            pytest.skip(f"{name} is not installed: run tests/e2e/mcp/peers/install")
        return found

    return find


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Outcome]:
    """`run_lane` in the test's own folder."""
    return partial(run_lane, tmp_path)


@pytest.fixture
def listening() -> Iterator[Callable[[Sequence[str], Mapping[str, str]], Listening]]:
    """Start HTTP servers (`{port}` stands for a free one); each ends with the test, if not before."""
    running: list[subprocess.Popen[bytes]] = []

    def start(argv: Sequence[str], env: Mapping[str, str]) -> Listening:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        filled = [word.replace("{port}", str(port)) for word in argv]
        environment = os.environ | {name: value.replace("{port}", str(port)) for name, value in env.items()}
        process = subprocess.Popen(filled, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        running.append(process)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return Listening(f"http://127.0.0.1:{port}/mcp", partial(_end, process))
            except OSError:
                time.sleep(0.02)
        raise AssertionError(f"{argv} does not listen")

    yield start
    for process in running:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait()
