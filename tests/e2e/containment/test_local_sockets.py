"""AF_UNIX: who was reached is told, and daemons that act for others are out of bounds under `assert_no_egress`."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.e2e.containment.harness import Harness

CONNECT = """
import socket, sys
one = socket.socket(socket.AF_UNIX, getattr(socket, sys.argv[1]))
try:
    one.connect(sys.argv[2].replace("@", "\\0"))
    print("connected")
except OSError as error:
    print(error.errno)
"""
SEND = """
import socket, sys
one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
try:
    one.sendto(b"x", sys.argv[1].replace("@", "\\0"))
    print("sent")
except OSError as error:
    print(error.errno)
"""
OWN = """
import os, socket
listener, one = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
listener.bind("own.sock"); listener.listen(); one.connect("own.sock")
listener, one = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
listener.bind(""); listener.listen(); one.connect(listener.getsockname()); print("connected")
"""
EACCES = "13"


@pytest.fixture
def daemon(harness: Harness) -> Iterator[str]:
    """A daemon outside the tree, at a path like any other."""
    yield from listening(harness, "some.sock")


@pytest.fixture
def engine(harness: Harness) -> Iterator[str]:
    """A container engine outside the tree."""
    yield from listening(harness, "docker.sock")


def listening(harness: Harness, name: str) -> Iterator[str]:
    path = harness.folder / name
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(path))
        path.chmod(0o777)
        listener.listen()
        yield str(path)


def test_a_connection_to_a_daemon_is_told_with_where_it_leads(harness: Harness, daemon: str) -> None:
    (harness.folder / "link.sock").symlink_to(daemon)
    done = harness.contained("python", "-c", CONNECT, "SOCK_STREAM", "link.sock")
    assert done.out == "connected\n"
    assert done.report["unix"] == [{"path": daemon, "inside": False, "refused": False}]
    assert done.report["violations"] == []


def test_the_trees_own_sockets_are_known_as_such(harness: Harness) -> None:
    done = harness.contained("python", "-c", OWN, policy={"certify": True})
    assert done.out == "connected\n", done
    assert {one["inside"] for one in done.report["unix"]} == {True}


@pytest.mark.parametrize("certify", [True, False])
def test_a_container_engine_is_out_of_bounds_when_the_run_is_to_be_certified(
    harness: Harness, engine: str, certify: bool
) -> None:
    (harness.folder / "innocent.sock").symlink_to(engine)
    done = harness.contained("python", "-c", CONNECT, "SOCK_STREAM", "innocent.sock", policy={"certify": certify})
    assert done.out == (f"{EACCES}\n" if certify else "connected\n")
    assert done.destinations() == ({f"unix:{engine}"} if certify else set())


RENAMED = (
    """
import os
{how}
"""
    + CONNECT
)
HOW = {
    "hard link": "os.link('docker.sock', 'innocent.sock')",
    "rename": "os.rename('docker.sock', 'innocent.sock')",
    "bind mount": (
        "import ctypes; libc = ctypes.CDLL(None)\n"
        "assert libc.unshare(0x10020000) == 0; open('innocent.sock', 'x').close()\n"
        "assert libc.mount(b'docker.sock', b'innocent.sock', None, 0x1000, None) == 0"
    ),
}


@pytest.mark.parametrize("how", HOW)
def test_another_name_for_a_container_engine_does_not_help(harness: Harness, engine: str, how: str) -> None:
    words = ("python", "-c", RENAMED.replace("{how}", HOW[how]), "SOCK_STREAM", "innocent.sock")
    if how == "bind mount" and harness.plain(*words).out != "connected\n":
        pytest.skip("this machine grants no user namespace")
    (harness.folder / "innocent.sock").unlink(missing_ok=True)
    os.chmod(engine, 0o777)
    if os.geteuid() == 0 and harness.user == "nobody":
        os.chown(engine, 65534, 65534)
    done = harness.contained(*words, policy={"certify": True, "daemons_here": True})
    assert (done.out, done.destinations()) == (f"{EACCES}\n", {f"unix:{engine}"}), done


TMUX = """
import os, socket
os.makedirs("tmux-0", exist_ok=True)
listener, one = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
listener.bind("docker.sock"); listener.listen(); one.connect("docker.sock"); print("connected")
"""


def test_a_daemon_of_the_trees_own_is_nobodys_way_out(harness: Harness) -> None:
    done = harness.contained("python", "-c", TMUX, policy={"certify": True})
    assert (done.out, done.destinations()) == ("connected\n", set()), done


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
def test_an_abstract_name_outside_the_tree_is_out_of_bounds(harness: Harness, kind: str) -> None:
    name = f"flowproof-{harness.folder.name}"
    with closing(socket.socket(socket.AF_UNIX, getattr(socket, kind))) as listener:
        listener.bind(f"\0{name}")
        if kind == "SOCK_STREAM":
            listener.listen()
        free = harness.contained("python", "-c", CONNECT, kind, f"@{name}")
        held = harness.contained("python", "-c", CONNECT, kind, f"@{name}", policy={"certify": True})
        sent = harness.contained("python", "-c", SEND, f"@{name}", policy={"certify": True})
    assert (free.out, free.destinations()) == ("connected\n", set())
    assert (held.out, held.destinations()) == (f"{EACCES}\n", {f"unix:@{name}"})
    assert (sent.out, sent.destinations()) == (f"{EACCES}\n", {f"unix:@{name}"})
