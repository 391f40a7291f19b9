"""What flows in several threads say to one boundary process over one socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from flowproof_addons.session import MockResult, Session, ToolMock
from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.process import BoundaryError, BoundaryProcess

type Peer = Callable[[bytes], bytes]
"""What the process at the other end answers to a line; nothing ends it."""

OPENED = {"port": 1, "mcp_urls": {}, "mcp_servers": {}}


class Process:
    """The part of a boundary process that `Boundary` speaks to, its other end played by a thread."""

    def __init__(self, folder: Path, peer: Peer) -> None:
        self.log = folder / "boundary.log"
        self.socket, self._theirs = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, args=(peer,))
        self._thread.start()

    def last_words(self) -> str:
        return "its last words"

    def end(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self.socket.close()

    def _serve(self, peer: Peer) -> None:
        with self._theirs, self._theirs.makefile("rb") as lines:
            self._theirs.sendall(b'{"event": "ready"}\n')
            for line in lines:
                if not (answer := peer(line)):
                    return
                self._theirs.sendall(answer + b"\n")


@pytest.fixture
def boundary(tmp_path: Path) -> Iterator[Callable[[Peer], Boundary]]:
    opened: list[Boundary] = []

    def speaking_to(peer: Peer) -> Boundary:
        opened.append(Boundary(cast(BoundaryProcess, Process(tmp_path, peer))))
        return opened[-1]

    yield speaking_to
    for each in opened:
        each.close()


def session(name: str, folder: Path, result: str = "") -> Session:
    return Session(
        id=name, phase="record", folder=folder, mocks=(ToolMock(name="t", results=(MockResult(content=result),)),)
    )


def opens(line: bytes) -> bytes:
    return json.dumps({"id": json.loads(line)["id"], **OPENED}).encode()


def test_flows_that_say_a_lot_at_once_do_not_cut_into_one_another(
    boundary: Callable[[Peer], Boundary], tmp_path: Path
) -> None:
    one = boundary(opens)
    sessions = [session(f"s-{i}", tmp_path, "x" * 2_000_000) for i in range(6)]
    with ThreadPoolExecutor(6) as threads:
        assert [opened.id for opened in threads.map(one.open, sessions)] == [s.id for s in sessions]


@pytest.mark.parametrize("said", [b"", b"no JSON", b'{"id": 99}'], ids=["hangs up", "garbage", "an answer to nothing"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_waits_for_a_process_that_can_not_be_understood(
    said: bytes, boundary: Callable[[Peer], Boundary], tmp_path: Path
) -> None:
    one = boundary(lambda line: said)
    with pytest.raises(BoundaryError, match=r"the boundary process ended(.|\n)*its last words"):
        one.open(session("s", tmp_path))
