"""A shop's contract and adapters for it, written where a test runs."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_ADAPTER = """
import json, sys, time
def send(**m): print(json.dumps(m), flush=True)
def call(tool, **arguments):
    send(type="tool_call", callId=f"{tool}{time.monotonic_ns()}", tool=tool, arguments=arguments)
    return json.loads(sys.stdin.readline())
start = json.loads(sys.stdin.readline())
"""

_CONTRACT = """
schemaVersion: "0.1"
id: shop
input: { message: Refund A. }
fixtures:
  order: { id: A, amount: 5, token: s3cr3t-value }
  refund: { ok: true }
  wipe: {}
expect:
  tools:
    required: [order]
    forbidden: [wipe]
    precedence: [{ before: order, after: refund }]
    arguments:
      - tool: refund
        match: { amount: { $fromResult: { tool: order, path: amount } } }
  confirmation: { requiredBefore: [refund], bindArguments: true }
  outcome:
    status: completed
    schema: { type: object, required: [refunded] }
    when:
      - when: { outcomePath: notes, nonEmpty: true }
        match: { reviewed: true }
"""

GOOD = """
order = call("order", id="A")["result"]
send(type="confirmation", tool="refund", confirmed=True, arguments={"amount": order["amount"]})
call("refund", amount=order["amount"])
send(type="final", status="completed", output={"refunded": 1, "notes": [], "reviewed": False})
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `contract.yml`, made the current one."""
    (tmp_path / "contract.yml").write_text(_CONTRACT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tmp_path


@pytest.fixture
def good() -> str:
    """The script of an adapter that keeps the contract."""
    return GOOD


@pytest.fixture
def agent(shop: Path) -> Callable[..., list[str]]:
    """The command of an adapter with this script; the good one if none is given."""

    def command(script: str = GOOD) -> list[str]:
        path = shop / f"agent{len(list(shop.glob('agent*.py')))}.py"
        path.write_text(_ADAPTER + script)
        return [sys.executable, "-S", str(path)]

    return command


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A streamable HTTP server of the official SDK, with the tool `add`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path / "server.log"
    script = Path(__file__).with_name("mcp_http.py")
    with log.open("wb") as out:
        server = subprocess.Popen([sys.executable, str(script), str(port)], stdout=out, stderr=out)
    try:
        deadline = time.monotonic() + 30
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.kill()
        server.wait()
