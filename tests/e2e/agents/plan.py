"""An agent without an SDK: sends the requests of a JSON file, exactly as they stand there.

    plan.py PLAN.json          [{"path": "/v1/messages", "body": {...}}, [{...}, {...}], ...]

A nested list goes out at once, from as many threads. A request has `path` and may have `method`, `headers`, and one of
`body` (JSON), `text` or `base64`. Every answer is printed as a JSON line. Errors are swallowed: it always exits 0.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BASE = urlsplit(os.environ.get("PLAN_BASE_URL") or os.environ["ANTHROPIC_BASE_URL"])


def data(request: dict[str, Any]) -> bytes | None:
    if "base64" in request:
        return base64.b64decode(request["base64"])
    if "text" in request:
        return str(request["text"]).encode()
    return json.dumps(request["body"]).encode() if "body" in request else None


def send(request: dict[str, Any]) -> dict[str, Any]:
    body = data(request)
    connection = http.client.HTTPConnection(BASE.hostname or "", BASE.port, timeout=20)
    try:
        headers = {"content-type": "application/json", **request.get("headers", {})}
        connection.request(request.get("method") or ("GET" if body is None else "POST"), request["path"], body, headers)
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
        digest = hashlib.sha256(text.encode()).hexdigest()  # tells what was received even where output is redacted
        kind = response.getheader("content-type")
        return {"status": response.status, "type": kind, "text": text, "sha256": digest}
    except (OSError, http.client.HTTPException) as error:
        return {"error": type(error).__name__}
    finally:
        connection.close()


def main() -> None:
    for step in json.loads(Path(sys.argv[1]).read_text()):
        together = step if isinstance(step, list) else [step]
        with ThreadPoolExecutor(len(together)) as pool:
            for answer in pool.map(send, together):
                print(json.dumps(answer), flush=True)


main()
