"""Declared names work under containment with every resolver; no question leaves the machine, each one is evidence."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tests.e2e.containment.compiled import program
from tests.e2e.containment.harness import Harness

NAME = "api.flowproof.test"
PYTHON = "import urllib.request as u; print(u.urlopen('http://{0}/', timeout=5).status)"
ASYNCIO = (
    "import asyncio\nasync def go():\n r, w = await asyncio.open_connection(*'{0}'.split(':'));"
    " w.write(b'GET / HTTP/1.0\\r\\n\\r\\n'); print((await r.read())[9:12].decode())\nasyncio.run(go())"
)
NODE = "fetch('http://{0}/').then(r => console.log(r.status), e => console.log(e.cause.code))"
CLIENTS = {
    "urllib": ("python", "-c", PYTHON),
    "asyncio": ("python", "-c", ASYNCIO),
    "curl": ("curl", "-s", "-o", "/dev/null", "-w", "%{{http_code}}\n", "http://{0}/"),
    "node": ("node", "-e", NODE),
}


class Ok(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[int]:
    """A server at what tests take for another machine."""
    with ThreadingHTTPServer(("127.0.0.2", 0), Ok) as one:
        thread = Thread(target=one.serve_forever)
        thread.start()
        yield one.server_address[1]
        one.shutdown()
        thread.join()


def policy(*allow: str, nameservers: tuple[str, ...] = ("192.0.2.53",), pins: object = None) -> dict[str, object]:
    pinned = {NAME: ["127.0.0.2"]} if pins is None else pins
    return {
        "allow": list(allow),
        "off_host": ["127.0.0.2/32"],
        "nameservers": [*system_nameservers(), *nameservers],
        "pins": pinned,
    }


def system_nameservers() -> list[str]:
    from flowproof_runner.containment import machine

    return list(machine.read().nameservers)


def words(client: str, where: str) -> tuple[str, ...]:
    if not shutil.which(sys.executable if client in ("urllib", "asyncio") else client):
        pytest.skip(f"no {client} here")
    return tuple(word.replace("{{", "{").replace("}}", "}").replace("{0}", where) for word in CLIENTS[client])


@pytest.mark.parametrize("client", CLIENTS)
def test_a_declared_name_works_and_is_pinned(harness: Harness, server: int, client: str) -> None:
    done = harness.contained(*words(client, f"{NAME}:{server}"), policy=policy(f"{NAME}:{server}"))
    assert (done.out, done.report["violations"], done.report["faults"]) == ("200\n", [], []), done
    assert {(one["name"], one["declared"]) for one in done.report["names"]} == {(NAME, True)}


@pytest.mark.parametrize("client", CLIENTS)
def test_an_undeclared_name_is_a_violation_though_nothing_was_connected(harness: Harness, client: str) -> None:
    done = harness.contained(*words(client, "evil.flowproof.test:80"), policy=policy())
    [violation] = done.report["violations"]
    assert (violation["to"], violation["protocol"], violation["kind"]) == ("evil.flowproof.test", "dns", "name")
    assert violation["chain"], done
    assert "200" not in done.out


def test_a_name_declared_for_one_port_is_shown_with_the_address_of_another(harness: Harness, server: int) -> None:
    done = harness.contained(*words("urllib", f"{NAME}:{server}"), policy=policy(f"{NAME}:1"))
    [violation] = done.report["violations"]
    assert (violation["to"], violation["name"]) == (f"127.0.0.2:{server}", NAME)


def test_a_declared_name_that_cannot_be_resolved_here_is_no_violation(harness: Harness) -> None:
    done = harness.contained(*words("urllib", f"{NAME}:80"), policy=policy(NAME, pins={}))
    assert done.report["violations"] == []
    assert done.code != 0


QUESTION = """
import socket, struct, sys
question = b"\\x12\\x34\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\3api\\x09flowproof\\4test\\0\\0\\1\\0\\1"
server, how = sys.argv[1:]
family = socket.AF_INET6 if ":" in server else socket.AF_INET
if how == "tcp":
    one = socket.create_connection((server, 53), 5)
    one.sendall(len(question).to_bytes(2, "big") + question)
    answer = one.recv(512)[2:]
else:
    one = socket.socket(family, socket.SOCK_DGRAM)
    one.settimeout(5)
    if how == "connected":
        one.connect((server, 53))
        one.send(question)
    else:
        one.sendto(question, (server, 53))
    answer = one.recv(512)
print(socket.inet_ntoa(answer[-4:]))
"""


@pytest.mark.parametrize("how", ["connected", "unconnected", "tcp"])
@pytest.mark.parametrize("server", ["192.0.2.53", "2001:db8::53", "127.0.0.53", "127.0.0.1"])
def test_a_question_to_any_of_the_machines_name_servers_is_answered_here(
    harness: Harness, server: str, how: str
) -> None:
    servers = ("192.0.2.53", "2001:db8::53")
    given = policy(NAME, nameservers=servers)
    done = harness.contained("python", "-c", QUESTION, server, how, policy=given)
    assert (done.out, done.report["violations"]) == ("127.0.0.2\n", []), done


@pytest.mark.parametrize("language", ["go", "rust"])
def test_a_compiled_program_reaches_what_is_declared_and_nothing_else(
    harness: Harness, shared: Path, server: int, language: str
) -> None:
    declared, undeclared = f"{NAME}:{server}", f"127.0.0.3:{server}"
    given = policy(declared) | {"off_host": ["127.0.0.2/31"]}
    done = harness.contained(program(shared, language), declared, undeclared, "evil.flowproof.test:80", policy=given)
    assert (done.out, done.report["faults"]) == ("200\nfailed\nfailed\n127.0.0.2\n", []), done
    assert done.destinations() == {undeclared, "evil.flowproof.test"}


# Resolvers that take an answer only from the address they asked.
RESOLVE4 = (
    "const {Resolver} = require('dns').promises; const one = new Resolver({timeout: 5000, tries: 1});"
    " one.setServers(['192.0.2.53', '[2001:db8::53]:53']);"
    f" one.resolve4('{NAME}').then(a => console.log(a[0]), e => console.log(e.code))"
)
MUSL = """
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
int main(int argc, char **argv) {
  char text[64];
  struct addrinfo *found, hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
  int wrong = getaddrinfo(argv[1], "80", &hints, &found);
  if (wrong) return puts(gai_strerror(wrong)), 1;
  puts(inet_ntop(AF_INET, &((struct sockaddr_in *)found->ai_addr)->sin_addr, text, sizeof text));
}
"""


def test_c_ares_finds_a_declared_name(harness: Harness) -> None:
    if not shutil.which("node"):
        pytest.skip("no node here")
    given = policy(NAME, nameservers=("192.0.2.53", "2001:db8::53"))
    done = harness.contained("node", "-e", RESOLVE4, policy=given)
    assert (done.out, done.report["violations"], done.report["faults"]) == ("127.0.0.2\n", [], []), done


def test_a_program_linked_to_musl_finds_a_declared_name(harness: Harness) -> None:
    if not shutil.which("musl-gcc"):
        pytest.skip("no musl-gcc here")
    (harness.folder / "ask.c").write_text(MUSL)
    subprocess.run(["musl-gcc", "-static", "-o", "ask", "ask.c"], cwd=harness.folder, check=True)
    done = harness.contained(harness.folder / "ask", NAME, policy=policy(NAME))
    assert (done.out, done.report["violations"], done.report["faults"]) == ("127.0.0.2\n", [], []), done


PARTICULAR = """
import socket, sys, threading, time
question = b"\\x12\\x34\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\3api\\x09flowproof\\4test\\0\\0\\1\\0\\1"
server, call, mode = sys.argv[1:]
one = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM)
other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
other.bind(("127.0.0.1", 0)); other.sendto(b"between", other.getsockname())
one.settimeout(5 if mode == "polled" else None)
if mode == "late":
    threading.Timer(0.3, one.sendto, (question, (server, 53))).start()
    one.bind(("", 0)); one.sendto(question, (server, 53)); one.recv(512)
else:
    one.sendto(question, (server, 53))
if call == "recvmsg":
    parts = [bytearray(20), bytearray(500)]
    size, _, flags, sender = one.recvmsg_into(parts)
    answer = b"".join(parts)[:size]
else:
    answer, sender = one.recvfrom(512)
print(socket.inet_ntoa(answer[-4:]), sender[:2] == (server, 53), *other.recvfrom(10))
"""


@pytest.mark.parametrize("mode", ["polled", "blocking", "late"])
@pytest.mark.parametrize("call", ["recvfrom", "recvmsg"])
@pytest.mark.parametrize("server", ["192.0.2.53", "2001:db8::53"])
def test_an_answer_seems_to_come_from_whom_was_asked(mine: Harness, server: str, call: str, mode: str) -> None:
    given = policy(NAME, nameservers=("192.0.2.53", "2001:db8::53")) | {"musl": True}
    done = mine.contained("python", "-c", PARTICULAR, server, call, mode, policy=given)
    assert done.out.startswith("127.0.0.2 True b'between' ('127.0.0.1', "), done
    assert done.report["faults"] == []


def test_a_name_server_of_the_agents_own_choice_is_a_destination_like_any_other(harness: Harness) -> None:
    done = harness.contained("python", "-c", QUESTION, "198.51.100.53", "unconnected", policy=policy(NAME))
    assert done.destinations() == {"198.51.100.53:53"}
    assert "PermissionError" in done.err
