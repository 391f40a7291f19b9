"""An agent that calls a tool until it is answered, and tells what came of each try. `stubborn.py SERVER [TRIES]`"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import urllib.request
from typing import Any
from urllib.parse import urlsplit

TARGET = sys.argv[1]
TRIES = int(sys.argv[2]) if len(sys.argv) > 2 else 9
OPENING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "stubborn", "version": "1"}}


class Gone(Exception):
    """The server is not there any more."""


class Stdio:
    def __init__(self) -> None:
        self.process = subprocess.Popen([TARGET], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        if "id" not in message:
            return {}
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            raise Gone
        answer: dict[str, Any] = json.loads(line)
        return answer


class Http:
    def __init__(self) -> None:
        self.headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        parts = urlsplit(TARGET)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        try:
            connection.request("POST", parts.path, json.dumps(message).encode(), self.headers)
            response = connection.getresponse()
            body = response.read().decode()
        except (http.client.HTTPException, ConnectionError) as error:
            raise Gone from error
        finally:
            connection.close()
        if session := response.getheader("mcp-session-id"):
            self.headers["mcp-session-id"] = session
        data = body.partition("data: ")[2].partition("\n")[0] if body.startswith(("event:", "data:", "id:")) else body
        answer: dict[str, Any] = json.loads(data or "{}")
        return answer


def connected() -> Stdio | Http:
    server = Http() if TARGET.startswith("http") else Stdio()
    server.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OPENING})
    server.ask({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return server


def tried(server: Stdio | Http, number: int) -> str:
    params = {"name": "get_weather", "arguments": {"city": "Nairobi"}}
    answer = server.ask({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    if "error" in answer:
        return f"rpc {answer['error']['code']} {answer['error']['message']}"
    text = answer["result"]["content"][0]["text"]
    return f"error {text}" if answer["result"].get("isError") else "answered"


def main() -> None:
    body = json.dumps({"model": "brain-1", "messages": [{"role": "user", "content": "hello"}]}).encode()
    url = f"{os.environ['ANTHROPIC_BASE_URL']}/v1/chat/completions"
    urllib.request.urlopen(urllib.request.Request(url, body, {"content-type": "application/json"})).read()
    server, tries = connected(), list[str]()
    while "answered" not in tries and len(tries) < TRIES:
        try:
            tries.append(tried(server, len(tries) + 1))
        except Gone:
            tries.append("gone")
            server = connected()
    print(json.dumps(tries))
    sys.exit("answered" not in tries)


main()
