"""Replay opens no connection, whatever is thrown at it; recording talks to its own upstream only."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e.scenario import BIN
from tests.e2e.upstream import Upstream

from flowproof_addons.session import Session
from flowproof_addons.session import Upstream as Where
from flowproof_addons.trace import body, file
from flowproof_addons.trace.model import Exchange, Trace

BODY = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'
SMUGGLED = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
REDIRECTS = """
def request(flow):
    flow.request.scheme, flow.request.host, flow.request.port = "http", "127.0.0.1", PORT
    flow.response = None

def server_connect(data):
    data.server.address = ("127.0.0.1", PORT)
    data.server.error = None
"""
RAISES = """
def requestheaders(flow):
    raise RuntimeError("an addon before ours")

def request(flow):
    raise RuntimeError("an addon before ours")
"""
HALTS = """
from mitmproxy.exceptions import AddonHalt

def requestheaders(flow):
    raise AddonHalt

def request(flow):
    flow.request.host, flow.request.port = "127.0.0.1", PORT
    raise AddonHalt

def server_connect(data):
    data.server.address = ("127.0.0.1", PORT)
    raise AddonHalt
"""
BREAKS_OURS = """
from flowproof_addons.live.progress import Live

def fail(*args, **named):
    raise RuntimeError("a bug of ours")

Live.match = Live.arrived = Live.record = Live.substitute = fail
"""
BREAKS_THE_GATE = """
from flowproof_addons.hooks import gate

def fail(*args, **named):
    raise RuntimeError("a bug of ours")

gate._read = fail
"""
HOSTILE = {
    "redirects": REDIRECTS,
    "raises": RAISES,
    "halts": HALTS,
    "breaks ours": BREAKS_OURS,
    "breaks the gate": BREAKS_THE_GATE,
}


@contextmanager
def boundary(folder: Path, session: Session, *scripts: Path, first: bool = False) -> Iterator[int]:
    """mitmdump started by hand, as docs say, with other people's scripts beside ours; yields its port."""
    config = folder / "boundary.json"
    config.write_text(f'{{"session": {session.model_dump_json()}}}')
    ours = subprocess.run([BIN / "flowproof", "addon"], capture_output=True, text=True, check=True).stdout.strip()
    loaded = [*scripts, ours] if first else [ours, *scripts]
    words = [str(BIN / "mitmdump"), "-n", "--set", f"flowproof_config={config}", "--set", f"confdir={folder / 'mitm'}"]
    with (folder / "mitmdump.log").open("w") as log:
        process = subprocess.Popen([*words, *(w for s in loaded for w in ("-s", str(s)))], stdout=log, stderr=log)
    try:
        yield _port(folder / "mitmdump.log", process)
    finally:
        process.terminate()
        process.wait(30)


def _port(log: Path, process: subprocess.Popen[bytes]) -> int:
    until = time.monotonic() + 60
    while not (found := re.search(r"on http://127\.0\.0\.1:(\d+)", log.read_text())):
        assert process.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.02)
    return int(found[1])


def ask(port: int, data: bytes) -> bytes:
    """What one connection answers to some bytes, until it is closed or the answer is whole."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(data)
        while not _whole(received) and (piece := connection.recv(65536)):
            received += piece
    return received


def _whole(received: bytes) -> bool:
    head, end, body = received.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return bool(end) and length.isdigit() and len(body) >= int(length)


def post(host: str = "127.0.0.1", path: str = "/v1/chat/completions", **headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", f"host: {host}", "content-type: application/json", "connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, f"content-length: {len(BODY)}", "", ""]).encode() + BODY


@pytest.fixture
def replaying(tmp_path: Path) -> Session:
    """A session that replays one recorded turn."""
    json = {"content-type": "application/json"}
    said = body.reply(200, json, b'{"id":"c","choices":[{"message":{"role":"assistant","content":"Told."}}]}')
    turn = Exchange(body.request("POST", "/v1/chat/completions", json, BODY), said, "openai-chat")
    file.save(tmp_path / "c.trace.json", Trace("by hand", "2026-01-01T00:00:00Z", "0" * 64, (turn,)))
    return Session(id="by-hand", phase="replay", folder=tmp_path / "by-hand", cassette=tmp_path / "c.trace.json")


@pytest.mark.parametrize("first", [True, False], ids=["loaded before ours", "loaded after ours"])
@pytest.mark.parametrize("script", HOSTILE)
def test_replay_opens_no_connection(
    script: str, first: bool, replaying: Session, upstream: Upstream, tmp_path: Path
) -> None:
    hostile = tmp_path / "hostile.py"
    hostile.write_text(HOSTILE[script].replace("PORT", str(upstream.port)))
    with boundary(tmp_path, replaying, hostile, first=first) as port:
        for data in (post(), post(path="/v1/unknown"), post(path=f"{upstream.url}/v1/messages")):
            ask(port, data)
    assert (upstream.connections, upstream.seen) == (0, [])


def test_the_hostile_scripts_do_open_connections_where_no_fence_is(upstream: Upstream, tmp_path: Path) -> None:
    """The guilty twin: a recording session lets the same redirect reach its own upstream, and no other address."""
    with Upstream(upstream.handler) as elsewhere:
        for target, reached in ((upstream, True), (elsewhere, False)):
            upstream.seen.clear()
            folder = tmp_path / str(target.port)
            folder.mkdir()
            hostile = folder / "hostile.py"
            hostile.write_text(REDIRECTS.replace("PORT", str(target.port)))
            where = {"*": Where(url=upstream.url), "openai-chat": Where(url=upstream.url)}
            session = Session(id="by-hand", phase="record", folder=folder / "run", upstreams=where)
            with boundary(folder, session, hostile) as port:
                ask(port, post())
            assert bool(target.seen) is reached
        assert elsewhere.connections == 0


ASKED = {
    "own": (post("localhost"), b"200"),
    "host": (post("attacker.example"), b"421"),
    "mitm.it": (post("mitm.it"), b"421"),
    "origin": (post(origin="https://attacker.example"), b"421"),
    "own origin": (post(origin="http://127.0.0.1"), b"421"),
    "connect": (b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: 127.0.0.1:1\r\n\r\n", b"400"),
    "smuggling": (SMUGGLED, b"400"),
    "h2c": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b""),
}


def test_only_loopback_clients_are_answered(replaying: Session, upstream: Upstream, tmp_path: Path) -> None:
    """A browser page, a rebound name, a request for somewhere else: refused, and nothing is dialled."""
    with boundary(tmp_path, replaying) as port:
        answered = {name: ask(port, data).partition(b" ")[2][:3] for name, (data, _) in ASKED.items()}
    assert answered == {name: status for name, (_, status) in ASKED.items()}
    assert upstream.connections == 0


def test_a_request_in_absolute_form_is_answered_like_its_own_path(
    replaying: Session, upstream: Upstream, tmp_path: Path
) -> None:
    """A client that takes the boundary for a proxy gets the recording, and nothing is dialled."""
    with boundary(tmp_path, replaying) as port:
        answered = ask(port, post(path=f"{upstream.url}/v1/chat/completions"))
    assert b"Told." in answered
    assert upstream.connections == 0


def test_the_listener_is_on_loopback_only(replaying: Session, tmp_path: Path) -> None:
    with boundary(tmp_path, replaying) as port:
        listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        addresses = {
            line[1].split(":")[0] for line in listening if line[1].endswith(f":{port:04X}") and line[3] == "0A"
        }
    assert addresses == {"0100007F"}
