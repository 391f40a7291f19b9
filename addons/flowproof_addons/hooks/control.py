"""The control socket: JSON lines from the runner in, answers and events out. Its end is ours."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from pathlib import Path

import pydantic
from mitmproxy import ctx, hooks

from flowproof_addons.dialects.registry import default
from flowproof_addons.errors import FlowproofError
from flowproof_addons.hooks import inspection, userfiles
from flowproof_addons.hooks.sessions import Desk, Open, proxyserver
from flowproof_addons.live.progress import Emit
from flowproof_addons.session import Session
from flowproof_addons.trace.model import JsonValue

type Message = dict[str, JsonValue]


class Control:
    """Serves the runner that started us over an inherited socket. When the runner dies, so does the boundary."""

    def __init__(self, desk: Desk, descriptor: int) -> None:
        self._desk = desk
        self._socket = socket.socket(fileno=descriptor)
        self._writer: asyncio.StreamWriter | None = None
        self._serving: asyncio.Task[None] | None = None

    def running(self) -> None:
        self._serving = asyncio.get_running_loop().create_task(self._serve())

    async def done(self) -> None:
        if self._serving is not None:
            self._serving.cancel()
        await self._desk.close_all(proxyserver())

    async def _serve(self) -> None:
        try:
            await self._listen()
        except ConnectionError:
            pass  # the runner hung up before it read what we sent: an end like any other
        await self._end()

    async def _end(self) -> None:
        """Let every addon say goodbye, then leave at once: unwinding the interpreter takes as long as a flow."""
        self._serving = None
        await ctx.master.addons.trigger_event(hooks.DoneHook())
        logging.shutdown()
        os._exit(0)

    async def _listen(self) -> None:
        reader, self._writer = await asyncio.open_unix_connection(sock=self._socket, limit=2**28)
        self._send({"event": "ready", "web": getattr(ctx.master, "web_url", "")})
        pending: set[asyncio.Task[None]] = set()
        while line := await reader.readline():
            task = asyncio.get_running_loop().create_task(self._answer(json.loads(line)))
            pending.add(task)
            task.add_done_callback(pending.discard)

    async def _answer(self, message: Message) -> None:
        answer: Message = {"id": message["id"]}
        try:
            answer |= await self._do(message)
        except pydantic.ValidationError as error:
            answer["error"] = f"a session the boundary does not understand: {error}"
        except FlowproofError as error:
            answer["error"] = str(error)
        except Exception as error:  # a bug of ours: whoever asked must not wait for an answer that never comes
            answer["bug"] = f"{type(error).__name__}: {error}"
        self._send(answer)

    async def _do(self, message: Message) -> Message:
        if message["do"] == "show":
            shown = inspection.Shown(Path(str(message["path"])), str(message["name"]), several=bool(message["several"]))
            return {"flows": await inspection.show(shown, default())}
        if message["do"] == "load":
            await userfiles.load(Path(str(message["path"])))
            return {}
        if message["do"] == "open":
            session = Session.model_validate(message["session"])
            return describe(await self._desk.open(session, proxyserver(), self._emitter(session.id)))
        session_id = str(message["session"])
        if message["do"] == "begin":
            self._desk.begin(session_id, int(str(message["user_turn"])))
            return {}
        if message["do"] == "turns":
            return {"turns": self._desk.turns(session_id)}
        found, lanes = await self._desk.close(session_id, proxyserver())
        await inspection.show_stdio(session_id, {name: lane.lane for name, lane in lanes.items()}, default())
        return {**found, "lanes": {name: lane.to_json() for name, lane in lanes.items()}}

    def _emitter(self, session_id: str) -> Emit:
        def emit(event: Message) -> None:
            self._send({"session": session_id, **event})

        return emit

    def _send(self, message: Message) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(json.dumps(message).encode() + b"\n")


def describe(opened: Open) -> Message:
    """Where an open session is reached."""
    servers = opened.live.session.mcp
    return {
        "port": opened.port(),
        "mcp_urls": {s.name: f"http://127.0.0.1:{opened.port(s.name)}/mcp" for s in servers},
        "mcp_servers": {s.name: opened.lanes.server_path(s.name) for s in servers},
    }
