"""The supervisor is no deputy to be confused: neither it nor the agent holds more than a user without rights."""

from __future__ import annotations

import os
import shutil
import socket
from contextlib import closing

import pytest
from tests.e2e.containment.harness import Harness
from tests.e2e.containment.network import INTERFACE, Sink

STATUS = """
import os
for pid in ("self", os.getppid()):
    fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
    print(*(fields[name].strip().strip("0") or "0" for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")),
          fields["Uid"].split()[1])
"""


def test_neither_agent_nor_supervisor_has_a_capability_and_both_are_the_user(harness: Harness) -> None:
    done = harness.contained("python", "-c", STATUS)
    uid = 65534 if harness.user == "nobody" else os.geteuid()
    assert done.out.splitlines() == [f"0 0 0 0 1 {uid}"] * 2


root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root has privileges to lose")

ROUTE = ("ip", "route", "add", "203.0.113.0/24", "dev", INTERFACE)


@root_only
def test_a_route_cannot_be_added_through_the_supervisor(another_machine: tuple[str, Sink], mine: Harness) -> None:
    inside = Harness(mine.folder, network=another_machine[0])
    assert inside.plain(*ROUTE).code == 0
    assert inside.plain("ip", "route", "del", "203.0.113.0/24").code == 0
    done = inside.contained(*ROUTE)
    assert (done.code, "Operation not permitted" in done.err) == (2, True), done


LOW_PORT = "import socket; one = socket.socket(); one.bind(('127.0.0.1', 81)); print('bound')"


@root_only
def test_a_low_port_cannot_be_had_through_the_supervisor(mine: Harness) -> None:
    assert mine.plain("python", "-c", LOW_PORT).out == "bound\n"
    assert "PermissionError" in mine.contained("python", "-c", LOW_PORT).err


CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('connected')"


@root_only
def test_a_socket_of_root_cannot_be_reached_through_the_supervisor(mine: Harness) -> None:
    folder = mine.folder / "private"
    folder.mkdir(mode=0o700)
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(folder / "some.sock"))
        listener.listen()
        nobody = Harness(mine.folder, "nobody")
        assert mine.plain("python", "-c", CONNECT, folder / "some.sock").out == "connected\n"
        assert "PermissionError" in nobody.contained("python", "-c", CONNECT, folder / "some.sock").err


@root_only
def test_a_set_id_program_stays_the_user(mine: Harness) -> None:
    tool, source = mine.folder / "id", shutil.which("id")
    assert source
    shutil.copy(source, tool)
    tool.chmod(0o4755)
    nobody = Harness(mine.folder, "nobody")
    if nobody.plain(tool, "-u").out != "0\n":
        pytest.skip("this file system ignores set-id bits")
    assert nobody.contained(tool, "-u").out == "65534\n"
