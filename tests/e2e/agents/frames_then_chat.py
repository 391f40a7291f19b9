"""Reads a stream of bytes from the path given, telling ACK_URL of each frame, then chats."""

import base64
import contextlib
import http.client
import json
import os
import sys
import urllib.request
from urllib.parse import urlsplit

BASE = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
END = os.environ["FRAME_END"].encode()
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def post(path: str, body: object) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(BASE.hostname or "", BASE.port, timeout=20)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    return connection.getresponse()


response = post(sys.argv[1], {"model": "m"})
data = b""
while piece := response.read1(65536):
    data += piece
    with contextlib.suppress(OSError):
        OPENER.open(f"{os.environ['ACK_URL']}/acknowledge/{data.count(END) - 1}", timeout=20).close()
print(base64.b64encode(data).decode())
print(post("/v1/chat/completions", {"model": "m", "messages": []}).read().decode())
