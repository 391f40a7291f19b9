"""The stand-in's pump, and its folder: held while its maker lives, removed by the next one made when it was killed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flowproof_addons.mcp import standin

MAKE = """
import os, sys
from flowproof_addons.mcp.standin import Folder
made = Folder()
(made.path / "some.sock").touch()
os.utime(made.path, (0, 0))
print(made.path, flush=True)
os.kill(os.getpid(), 9) if sys.argv[1] == "killed" else sys.stdin.read()
"""


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder for temporary files; pytest's own have names too long for sockets below them."""
    folder = Path(tempfile.mkdtemp(prefix="fp-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


def make(base: Path, how: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", MAKE, how]
    environment = {**os.environ, "TMPDIR": str(base)}
    return subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_folder_is_private_short_and_gone_when_it_is_closed(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(base))
    folder = standin.Folder()
    assert folder.path.parent == base and folder.path.stat().st_mode & 0o777 == 0o700
    folder.close()
    folder.close()
    assert list(base.iterdir()) == []


def test_what_a_killed_boundary_left_is_removed_by_the_next_one(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(base))
    with make(base, "killed") as killed, make(base, "living") as living:
        assert killed.stdout and living.stdout
        left, held = Path(killed.stdout.readline().strip()), Path(living.stdout.readline().strip())
        killed.wait()
        own = standin.Folder()
        assert (left.exists(), held.exists(), own.path.exists()) == (False, True, True)
        standin.sweep(base)
        assert own.path.exists(), "its maker lives"
    own.close()
    young = Path(tempfile.mkdtemp(prefix="flowproof_", dir=base))
    others = Path(tempfile.mkdtemp(prefix="flowproof-", dir=base))
    os.utime(others, (0, 0))
    standin.sweep(base)
    assert young.exists() and others.exists(), "just made and not locked yet; not ours"


@contextmanager
def spawned(base: Path, stdout: int) -> Iterator[tuple[subprocess.Popen[bytes], socket.socket]]:
    """A stand-in in its client's hands, and the lane's end of it, the hello read."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(base / "lane.sock"))
        listening.listen()
        path = standin.write(base, "server", str(base / "lane.sock"), "token")
        process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=stdout, env={})
        os.close(stdout)
        lane, _ = listening.accept()
    with process, lane:
        lane.settimeout(10)
        hello = lane.recv(65536)
        assert hello == b"\0".join((b"token", str(process.pid).encode(), os.fsencode(os.getcwd()))) + b"\0\n"
        yield process, lane


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe does not say whether it has been read")
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_no_two_messages_come_in_one_read_however_slow_the_client(base: Path, kind: str) -> None:
    """Node gives its children sockets, all others pipes."""
    if kind == "pipe":
        client, theirs = os.pipe()
    else:
        client, theirs = (end.detach() for end in socket.socketpair())
    lines = [b"progress\n", b"x" * 200_000 + b"\n", b"result\n"]
    with spawned(base, theirs) as (process, lane):
        lane.sendall(b"".join(lines))
        reads: list[bytes] = []
        while sum(map(len, reads)) < sum(map(len, lines)):
            time.sleep(0.02)  # a client that is busy with something else
            reads.append(os.read(client, 65536))
        lane.close()
        assert process.wait(60) == 0
    os.close(client)
    assert b"".join(reads) == b"".join(lines)
    assert reads[0] == lines[0] and reads[-1] == lines[-1]


def test_a_client_that_has_ended_its_input_and_reads_no_more_does_not_keep_the_stand_in(base: Path) -> None:
    client, theirs = os.pipe()
    with spawned(base, theirs) as (process, lane):
        assert process.stdin is not None
        process.stdin.close()
        assert lane.recv(1) == b""
        began = time.monotonic()
        lane.sendall(b"one\ntwo\nthree\n")
        lane.close()
        assert process.wait(60) == 0
        assert time.monotonic() - began < standin.PATIENCE_S
    os.close(client)


def test_a_spawn_costs_less_than_forty_milliseconds_of_processor(base: Path) -> None:
    """Clients spawn one per call: an import too many is paid each time. A busy machine makes it wait, not work."""
    used: list[float] = []
    while not used or (min(used) > 0.04 and len(used) < 20):
        client, theirs = os.pipe()
        with spawned(base, theirs) as (process, lane):
            lane.close()
            used.append((usage := os.wait4(process.pid, 0)[2]).ru_utime + usage.ru_stime)
            process.returncode = 0
        os.close(client)
        (base / "lane.sock").unlink()
    assert min(used) <= 0.04
