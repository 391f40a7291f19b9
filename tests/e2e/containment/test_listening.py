"""Nothing in the tree listens to another machine: wildcards become loopback, everything else is refused and told."""

from __future__ import annotations

import shutil

import pytest
from tests.e2e.containment.harness import Harness

BIND = """
import socket, sys
host, kind, v6only = sys.argv[1:4]
one = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, getattr(socket, kind))
if v6only == "v6only":
    one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
try:
    one.bind((host, int(sys.argv[4])))
    if kind == "SOCK_STREAM":
        one.listen()
    print(one.getsockname()[0])
except OSError as error:
    print(error.errno)
"""
EACCES = "13"


@pytest.mark.parametrize(
    ("host", "mode", "bound"),
    [
        ("0.0.0.0", "", "127.0.0.1"),
        ("::", "", "::ffff:127.0.0.1"),
        ("::", "v6only", "::1"),
        ("::ffff:0.0.0.0", "", "::ffff:127.0.0.1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.9.9.9", "", "127.9.9.9"),
        ("::1", "", "::1"),
    ],
)
def test_a_server_on_a_wildcard_listens_on_loopback(harness: Harness, host: str, mode: str, bound: str) -> None:
    done = harness.contained("python", "-c", BIND, host, "SOCK_STREAM", mode, "0")
    assert done.out == f"{bound}\n", done
    assert bool(done.report["narrowed"]) == (host in ("0.0.0.0", "::", "::ffff:0.0.0.0"))
    assert done.report["violations"] == []


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
def test_listening_elsewhere_is_refused_and_told(harness: Harness, kind: str) -> None:
    """192.0.2.7 is no address of this machine: the refusal comes before the kernel could say so."""
    done = harness.contained("python", "-c", BIND, "192.0.2.7", kind, "", "7000")
    assert done.out == f"{EACCES}\n"
    [violation] = done.report["violations"]
    assert (violation["to"], violation["kind"]) == ("192.0.2.7:7000", "listen")


def test_a_datagram_server_on_a_wildcard_is_refused_a_client_is_not(harness: Harness) -> None:
    server = harness.contained("python", "-c", BIND, "0.0.0.0", "SOCK_DGRAM", "", "47123")
    assert server.out == f"{EACCES}\n"
    assert [(one["to"], one["kind"]) for one in server.report["violations"]] == [("0.0.0.0:47123", "listen")]
    client = harness.contained("python", "-c", BIND, "0.0.0.0", "SOCK_DGRAM", "", "0")
    assert (client.out, client.report["violations"]) == ("0.0.0.0\n", [])


NEVER_BOUND = "import socket; one = socket.socket(); one.listen(); print(one.getsockname()[0])"


def test_a_server_that_was_never_bound_listens_on_loopback(harness: Harness) -> None:
    assert harness.plain("python", "-c", NEVER_BOUND).out == "0.0.0.0\n"
    done = harness.contained("python", "-c", NEVER_BOUND)
    assert done.out == "127.0.0.1\n"
    assert done.report["narrowed"] == [{"asked": "0.0.0.0:0", "bound": "127.0.0.1:0"}]


LISTEN = """
import socket
one = socket.socket()
try:
    one.listen()
    print("listening at", one.getsockname()[0])
except OSError as error:
    print(error.errno, one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
"""
UNBOUND = """
import ipaddress, sys
sys.path.insert(0, sys.argv[1])
from flowproof_runner.containment import binding, sockaddr, supervisor
binding.narrow = lambda fd, nature, port: sockaddr.pack(ipaddress.IPv4Address("0.0.0.0"), port, nature.family)
supervisor.main()
"""


def test_a_socket_that_lost_its_address_while_it_was_looked_at_does_not_listen_everywhere(harness: Harness) -> None:
    """Where a kernel lets one listen after a failed connection, a thread can dissolve it in that very moment."""
    done = harness.contained("python", "-c", LISTEN, boot=UNBOUND)
    assert done.out == f"{EACCES} 0\n", done
    assert [one["kind"] for one in done.report["violations"]] == ["listen"]


@pytest.mark.skipif(not shutil.which("node"), reason="no node")
def test_a_development_server_and_its_client_find_each_other(harness: Harness) -> None:
    program = (
        "const s = require('http').createServer((q, r) => r.end('hi')).listen(0, async () => {"
        " const r = await fetch(`http://localhost:${s.address().port}/`); console.log(await r.text()); s.close(); })"
    )
    done = harness.contained("node", "-e", program)
    assert (done.out, done.report["violations"]) == ("hi\n", []), done
