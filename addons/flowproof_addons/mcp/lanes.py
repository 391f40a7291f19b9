"""All MCP lanes of one flow: what the boundary opens with a session and closes with it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from flowproof_addons.errors import FlowproofError
from flowproof_addons.faults import Faults
from flowproof_addons.mcp import lane_file, standin
from flowproof_addons.mcp.approvals import Approvals
from flowproof_addons.mcp.faulty import LaneFaults
from flowproof_addons.mcp.findings import Entry, Findings
from flowproof_addons.mcp.http import Exchange, Handler, HttpDoor
from flowproof_addons.mcp.http_record import Forwarding
from flowproof_addons.mcp.http_replay import Answering
from flowproof_addons.mcp.journal import Emit, Journal, Run
from flowproof_addons.mcp.lane import Lane
from flowproof_addons.mcp.policy import Policy
from flowproof_addons.mcp.record import Recording
from flowproof_addons.mcp.replay import Replay
from flowproof_addons.mcp.stdio import Door, Pipe, Serve, replaying
from flowproof_addons.mcp.stdio_record import Servers
from flowproof_addons.mcp.veil import Veil
from flowproof_addons.session import McpServer, Session
from flowproof_addons.trace.model import JsonValue


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What one lane saw and found."""

    lane: JsonValue
    """For `Trace.mcp`: in record phase the recording, at replay this run's own traffic in the same form."""
    findings: tuple[Entry, ...]
    stderr: tuple[Path, ...] = ()
    """What the real servers wrote."""

    def to_json(self) -> dict[str, JsonValue]:
        """As it crosses the control socket."""
        return {"lane": self.lane, "findings": list(self.findings), "stderr": [str(path) for path in self.stderr]}


class LaneError(FlowproofError):
    """A declared MCP server has no lane to be served from."""


@dataclass(slots=True)
class _Open:
    """One lane being served over both transports."""

    declared: McpServer
    journal: Journal
    findings: Findings
    stdio: Door
    http: HttpDoor
    replay: Replay | None = None
    servers: Servers | None = None
    forwarding: Forwarding | None = None


class Lanes:
    """Serves every MCP server the session declares: from the recording, or by forwarding to the real one."""

    def __init__(
        self,
        session: Session,
        recorded: Mapping[str, JsonValue],
        emit: Emit,
        *,
        turns_served: Callable[[], int] = lambda: 0,
        faults: Faults | None = None,
        user_turn: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._session = session
        self._recorded = recorded
        self._faults = faults or Faults((), session.mcp_faults)
        self._approvals = Approvals.asked_by(rule for server in session.mcp for rule in server.confirm)
        self._run = Run(emit, turns_served, time.monotonic, heard=self._approvals.heard, user_turn=user_turn)
        self._veil = Veil(session.secrets, session.redact_keys)
        self._folder: standin.Folder | None = None
        self._lanes: dict[str, _Open] = {}

    async def start(self) -> None:
        """Open every lane; at record, bring the real servers up first.

        Raises FlowproofError if a server cannot be started or reached, or if the cassette has no lane for one.
        """
        if not self._session.mcp:
            return
        self._folder = standin.Folder()
        for declared in self._session.mcp:
            lane = self._lanes[declared.name] = self._make(declared, self._folder.path)
            await lane.stdio.open()
            await lane.http.open()
        await asyncio.gather(*(self._ready(lane) for lane in self._lanes.values()))

    def server_path(self, name: str) -> str:
        """The executable an agent is to spawn as this server."""
        return self._lanes[name].stdio.path

    def upstream(self, name: str) -> tuple[str, int]:
        """The address of the lane server that answers this server's HTTP listener."""
        return self._lanes[name].http.address

    def follow(self, on_open: Callable[[], None], on_close: Callable[[], None]) -> None:
        """Have every call that arrives, and every one that is answered or given up, be told of."""
        self._run.on_open, self._run.on_close = on_open, on_close

    def left(self, user_turn: int) -> tuple[int, int]:
        """At replay: the calls recorded in a user turn, those first that nobody asked for."""
        replays = [lane.replay for lane in self._lanes.values() if lane.replay is not None]
        missing, recorded = zip((0, 0), *(replay.left(user_turn) for replay in replays), strict=True)
        return sum(missing), sum(recorded)

    async def close(self) -> Mapping[str, LaneResult]:
        """Stop serving: nothing that was started is left. What each lane saw."""
        for lane in self._lanes.values():
            await lane.stdio.close()
            await lane.http.close()
            if lane.servers is not None:
                await lane.servers.close()
            if lane.forwarding is not None:
                lane.forwarding.close()
        if self._folder is not None:
            self._folder.close()
        return {name: self._result(lane) for name, lane in self._lanes.items()}

    def _make(self, declared: McpServer, folder: Path) -> _Open:
        journal = Journal(declared.name, self._run)
        findings = Findings(declared.name, self._run.emit)
        policy, faults = Policy(declared, self._approvals), LaneFaults(declared.name, self._faults)
        if self._session.phase == "record":
            return self._recording(declared, folder, Recording(journal, policy, findings, faults))
        value = self._recorded.get(declared.name)
        if value is None:
            raise LaneError(f"mcp.{declared.name}: the cassette has no recording of this server; record again")
        recorded = _answered(lane_file.load(declared.name, value))
        replay = Replay(journal, recorded, policy, findings, self._veil, faults)
        door = Door(declared.name, folder, replaying(replay))
        return _Open(declared, journal, findings, door, HttpDoor(_routed(Answering(replay, recorded))), replay)

    def _recording(self, declared: McpServer, folder: Path, lane: Recording) -> _Open:
        if declared.command:
            cwd = self._session.agent_cwd or str(Path.cwd())
            servers = Servers(declared, lane, cwd, self._session.folder)
            http = HttpDoor(_elsewhere(lane, f"is a stdio server: spawn ${variable(declared)}"))
            door = Door(declared.name, folder, servers.serve)
            return _Open(declared, lane.journal, lane.findings, door, http, servers=servers)
        forwarding = Forwarding(declared, lane)
        lane.journal.transport = "http"
        door = Door(declared.name, folder, _no_stdio(lane, f"is an HTTP server: connect to ${variable(declared)}"))
        http = HttpDoor(_routed(forwarding))
        return _Open(declared, lane.journal, lane.findings, door, http, forwarding=forwarding)

    async def _ready(self, lane: _Open) -> None:
        if lane.servers is not None:
            await lane.servers.warm()
        if lane.forwarding is not None:
            await lane.forwarding.preflight()

    def _result(self, lane: _Open) -> LaneResult:
        if not lane.journal.contacted:
            what = "was never contacted" if lane.declared.url else "was never spawned"
            lane.findings.entries.append(
                {
                    "id": "mcp.uncontacted",
                    "message": f"mcp.{lane.declared.name}: flowproof's stand-in {what} by the agent; its MCP "
                    f"configuration must use ${variable(lane.declared)}",
                }
            )
        elif lane.replay is not None:
            lane.replay.close()
        stderr = tuple(lane.servers.stderr) if lane.servers else ()
        written = lane_file.dump(self._veil.lane(lane.journal.lane()))
        return LaneResult(written, tuple(lane.findings.entries), stderr)


def _answered(recorded: Lane) -> Lane:
    """The lane without the calls that were faults: those are made anew, never matched."""
    return replace(recorded, calls=tuple(call for call in recorded.calls if call.by != "fault"))


def variable(declared: McpServer) -> str:
    """The environment variable an agent's configuration takes this server from."""
    name = re.sub(r"[^A-Za-z0-9]", "_", declared.name).upper()
    return f"FLOWPROOF_MCP_URL_{name}" if declared.url else f"FLOWPROOF_MCP_SERVER_{name}"


def _routed(handler: Handler) -> Handler:
    """The handler behind every path that contains `/mcp`; OAuth discovery finds nothing, so no client tries it."""

    async def route(exchange: Exchange) -> None:
        if "/mcp" in exchange.path and "/.well-known/" not in exchange.path:
            await handler(exchange)
        else:
            exchange.respond(404, b"{}", {"content-type": "application/json"})

    return route


def _elsewhere(lane: Recording, words: str) -> Handler:
    async def refuse(exchange: Exchange) -> None:
        lane.findings.add("mcp.transport", f"mcp.{lane.journal.name} {words}", problem=True)
        exchange.respond(404, words.encode(), {"content-type": "text/plain"})

    return refuse


def _no_stdio(lane: Recording, words: str) -> Serve:
    async def refuse(pipe: Pipe) -> None:
        lane.findings.add("mcp.transport", f"mcp.{lane.journal.name} {words}", problem=True)

    return refuse
