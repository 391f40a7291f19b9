"""Keeps a client program up for many sessions: its imports take seconds, a session does not.

A line `{"id", "target", "script"}` on stdin opens a session of its own, whatever else is going on; a line
`{"id", "said"}` on stdout says what came of it, `{"id", "failed"}` that it broke.
"""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

type Run = Callable[[str, list[list[Any]]], Awaitable[Any]]


def serve(run: Run) -> None:
    """Serve sessions until the end of input."""
    asyncio.run(_serve(run))


async def _serve(run: Run) -> None:
    reader = asyncio.StreamReader(limit=2**24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with asyncio.TaskGroup() as sessions:
        while line := await reader.readline():
            sessions.create_task(_session(run, **json.loads(line)))


async def _session(run: Run, id: int, target: str, script: list[list[Any]]) -> None:
    try:
        answer = {"id": id, "said": await run(target, script)}
    except Exception:
        answer = {"id": id, "failed": traceback.format_exc()}
    print(json.dumps(answer), flush=True)
