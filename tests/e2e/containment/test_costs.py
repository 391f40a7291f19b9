"""Containment stays cheap: guards far above what tests/benchmarks/bench_containment.py measures, for busy machines."""

from __future__ import annotations

import shutil

import pytest
from tests.e2e.containment.harness import Harness

FASTEST = """
import socket, time
server = socket.create_server(("127.0.0.1", 0))
one, best = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 1.0
for _ in range(3000):
    began = time.perf_counter()
    one.connect(server.getsockname())
    best = min(best, time.perf_counter() - began)
print(best * 1e6)
"""
FILES = """
import os
for number in range(500):
    os.close(os.open("kept", os.O_RDWR | os.O_CREAT)); os.stat("kept"); os.listdir()
one, other = __import__("socket").socketpair()
for _ in range(500):
    one.send(b"x"); other.recv(1); os.write(one.fileno(), b"x"); os.read(other.fileno(), 1)
"""


def traps(harness: Harness, *words: str) -> int:
    done = harness.contained(*words, boot=harness.boot("counting"))
    assert done.code == 0, done
    return len((harness.folder / "traps").read_text().splitlines()) - 1  # less the launch's own test


def test_a_trapped_call_takes_less_than_a_fifth_of_a_millisecond(mine: Harness) -> None:
    assert float(mine.contained("python", "-c", FASTEST).out) < 200


def test_files_and_connected_sockets_are_used_without_being_asked_about(mine: Harness) -> None:
    assert traps(mine, "python", "-I", "-S", "-c", FILES) == 0


@pytest.mark.parametrize(
    "words", [("node", "-e", "0"), ("npm", "--version", "--logs-max=0"), ("git", "--version"), ("python", "-c", "")]
)
def test_starting_a_program_asks_next_to_nothing(mine: Harness, words: tuple[str, ...]) -> None:
    if words[0] != "python" and not shutil.which(words[0]):
        pytest.skip(f"no {words[0]} here")
    assert traps(mine, *words) < 10


def test_a_launch_takes_less_than_a_second(mine: Harness) -> None:
    assert min(mine.contained("true").launch_s for _ in range(3)) < 1
