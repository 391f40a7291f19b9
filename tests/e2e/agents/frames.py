"""Reads a stream frame by frame: `frames.py [httpx|aiohttp|socket] PATH`, telling ACK_URL of each as it comes.

The upstream holds back every frame until the one before it was acknowledged, so a recorder that buffers is stuck.
`socket` hangs up at `[DONE]`, before the stream has ended.
"""

import asyncio
import base64
import contextlib
import json
import os
import socket
import sys
import urllib.request
from urllib.parse import urlsplit

BASE = os.environ["ANTHROPIC_BASE_URL"]
KIND, PATH = sys.argv[1:3]
BODY = {"model": "m", "stream": True, "messages": [{"role": "user", "content": os.environ["FLOWPROOF_PROMPT"]}]}
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def acknowledge(name: str) -> None:
    if url := os.environ.get("ACK_URL"):
        with contextlib.suppress(OSError), OPENER.open(f"{url}/acknowledge/{name}", timeout=20):
            pass


def got(data: bytes) -> None:
    print(base64.b64encode(data).decode(), flush=True)


async def by_httpx() -> None:
    import httpx

    async with (
        httpx.AsyncClient(timeout=20) as client,
        client.stream("POST", BASE + PATH, json=BODY) as response,
    ):
        count = 0
        async for line in response.aiter_lines():
            if line:
                got(line.encode())
                await asyncio.to_thread(acknowledge, str(count))
                count += 1


async def by_aiohttp() -> None:
    import aiohttp

    async with aiohttp.ClientSession() as session, session.post(BASE + PATH, json=BODY) as response:
        data = b""
        async for chunk in response.content.iter_chunked(1 << 16):
            data += chunk
            await asyncio.to_thread(acknowledge, str(data.count(os.environ.get("FRAME_END", "\n\n").encode()) - 1))
        got(data)


def by_socket() -> None:
    parts = urlsplit(BASE)
    body = json.dumps(BODY).encode()
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=20) as connection:
        head = f"POST {PATH} HTTP/1.1\r\nhost: {parts.netloc}\r\ncontent-type: application/json\r\n"
        connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        data = b""
        while b"[DONE]" not in data and (piece := connection.recv(65536)):
            data += piece
    print("[DONE]" in data.decode())
    acknowledge("closed")


if KIND == "httpx":
    asyncio.run(by_httpx())
elif KIND == "aiohttp":
    asyncio.run(by_aiohttp())
else:
    by_socket()
