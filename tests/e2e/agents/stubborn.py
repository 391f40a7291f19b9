"""An agent that repeats a request until it has a whole answer, and tells what came of each try.

stubborn.py PLAN.json [TRIES]    [{"path": ..., "body": {...}, "patience_s": 5}, ...]

Prints one JSON line per request: `[429, "reset", "cut 3", "cut", "malformed", "timeout", "answered"]`;
"answered slowly" where it came in pieces, a while apart. Exits 1 if the
last try of any request came to nothing.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BASE = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
TRIES = int(sys.argv[2]) if len(sys.argv) > 2 else 5


def send(request: dict[str, Any]) -> int | str:
    connection = http.client.HTTPConnection(BASE.hostname or "", BASE.port, timeout=request.get("patience_s", 20))
    try:
        body = json.dumps(request["body"]).encode()
        connection.request("POST", request["path"], body, {"content-type": "application/json"})
        response = connection.getresponse()
        data, spread_s = received(response)
    except http.client.IncompleteRead as error:
        frames = error.partial.count(b"\n\n")
        return f"cut {frames}" if frames else "cut"
    except ConnectionResetError as error:
        return "closed" if isinstance(error, http.client.RemoteDisconnected) else "reset"
    except TimeoutError:
        return "timeout"
    finally:
        connection.close()
    if response.status != 200:
        return f"{response.status} {response.getheader('retry-after', '')}".strip()
    if not whole(data):
        return "malformed"
    return "answered slowly" if spread_s > 0.2 else "answered"


def received(response: http.client.HTTPResponse) -> tuple[bytes, float]:
    """The body, and how long after its first piece the last one came."""
    data, first, last = b"", 0.0, 0.0
    while piece := response.read1():
        last = time.monotonic()
        first = first or last
        data += piece
    if response.length:
        raise http.client.IncompleteRead(data, response.length)
    return data, last - first


def whole(data: bytes) -> bool:
    """True when the arguments of every tool call, put together where they came in pieces, are JSON."""
    lines = [line.removeprefix(b"data: ") for line in data.split(b"\n") if line.startswith(b"data: {")] or [data]
    arguments = ""
    for choice in (choice for line in lines for choice in json.loads(line).get("choices", [])):
        for call in (choice.get("message") or choice.get("delta") or {}).get("tool_calls", []):
            arguments += call.get("function", {}).get("arguments", "")
    try:
        json.loads(arguments or "{}")
    except ValueError:
        return False
    return True


def ended(tries: list[int | str]) -> bool:
    return bool(tries) and str(tries[-1]).startswith("answered")


def main() -> None:
    failed = False
    for request in json.loads(Path(sys.argv[1]).read_text()):
        tries: list[int | str] = []
        while not ended(tries) and len(tries) < TRIES:
            tries.append(send(request))
        print(json.dumps(tries), flush=True)
        failed = failed or not ended(tries)
    sys.exit(failed)


main()
