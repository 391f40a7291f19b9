"""A mitmweb that flowproof has opened, over its HTTP API."""

from __future__ import annotations

import json
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.e2e.scenario import PATIENCE_S, Outcome, Started

_ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)/\?token=(\w+)")


@dataclass(slots=True)
class Mitmweb:
    """The running CLI and the mitmweb it told of."""

    started: Started
    base: str
    token: str

    @classmethod
    def of(cls, started: Started) -> Mitmweb:
        """Wait until the CLI says where it is, and that it has nothing left to do."""
        assert started.process.stdout is not None
        said = ""
        for line in started.process.stdout:
            said += line
            if line.startswith("Ctrl-C ends it"):
                found = _ADDRESS.search(said)
                assert found is not None, said
                return cls(started, *found.groups())
        raise AssertionError(f"flowproof ended: {said}{started.finish().stderr}")

    @property
    def url(self) -> str:
        """As printed."""
        return f"{self.base}/?token={self.token}"

    def flows(self) -> list[dict[str, Any]]:
        """All flows as mitmweb has them."""
        found: list[dict[str, Any]] = json.loads(self.get("/flows"))
        return found

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first flow that is as it should be, as soon as one is."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if found := next(filter(holds, self.flows()), None):
                return found
        raise AssertionError(f"no such flow: {self.flows()}")

    def view(self, flow: dict[str, Any], side: str, view: str = "Auto") -> dict[str, Any]:
        """How one message is shown."""
        shown: dict[str, Any] = json.loads(self.get(f"/flows/{flow['id']}/{side}/content/{view}.json"))
        return shown

    def text(self, flow: dict[str, Any], side: str) -> str:
        """What is shown of a message, which must be one of our views."""
        shown = self.view(flow, side)
        assert shown["view_name"] in ("Conversation", "MCP"), shown
        return str(shown["text"])

    def get(self, path: str) -> bytes:
        """A GET with the token."""
        return self.send("GET", path)

    def send(self, method: str, path: str) -> bytes:
        """A request with the token; what changes something also needs the cookie that mitmweb gives to its own page."""
        request = urllib.request.Request(f"{self.base}{path}", method=method)
        request.add_header("authorization", f"Bearer {self.token}")
        if method != "GET":
            request.add_header("cookie", f"_mitmproxy_xsrf={self.token}")
            request.add_header("x-xsrftoken", self.token)
        with urllib.request.urlopen(request, timeout=30) as response:
            data: bytes = response.read()
            return data

    def status(self, path: str) -> int:
        """What a stranger without the token is answered."""
        try:
            with urllib.request.urlopen(f"{self.base}{path}", timeout=30) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    def reachable(self, host: str) -> bool:
        """Whether its port answers on another address."""
        port = int(self.base.rpartition(":")[2])
        try:
            socket.create_connection((host, port), timeout=2).close()
        except OSError:
            return False
        return True

    def end(self) -> Outcome:
        """Ctrl-C; nothing may be left."""
        self.started.interrupt()
        outcome = self.started.finish()
        assert outcome.left == (), outcome.left
        assert "Traceback" not in outcome.stderr, outcome.stderr
        return outcome
