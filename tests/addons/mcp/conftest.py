"""Lanes being replayed and recorded, in memory."""

from __future__ import annotations

import asyncio

import pytest
from tests.addons.mcp.stage import MemoryPeer, Play, Playing, Recorded, Scenario, Watching

from flowproof_addons.mcp.approvals import Approvals
from flowproof_addons.mcp.findings import Findings
from flowproof_addons.mcp.journal import Journal, Run
from flowproof_addons.mcp.lane import Lane
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.policy import Policy
from flowproof_addons.mcp.record import Recording
from flowproof_addons.mcp.replay import Replay
from flowproof_addons.mcp.veil import Veil
from flowproof_addons.session import McpServer
from flowproof_addons.trace.model import JsonValue


@pytest.fixture
def server() -> McpServer:
    """The declared server."""
    return McpServer(name="files", command=("files",))


@pytest.fixture
def lane_turn() -> list[int | None]:
    """Where the conversation is; None: it is none."""
    return [None]


@pytest.fixture
def play(server: McpServer, lane_turn: list[int | None]) -> Play:
    """Run a scenario against a lane."""

    def run(lane: Lane, scenario: Scenario) -> Playing:
        async def go() -> Playing:
            events: list[dict[str, JsonValue]] = []
            shared = Run(events.append, lambda: 0, asyncio.get_running_loop().time, user_turn=lambda: lane_turn[0])
            findings = Findings(server.name, events.append)
            policy = Policy(server, Approvals.asked_by(()))
            replay = Replay(Journal(server.name, shared), lane, policy, findings, Veil({}, ()))
            playing = Playing(replay, findings, MemoryPeer(), events)
            await scenario(playing)
            return playing

        return asyncio.run(go())

    return run


@pytest.fixture
def watching(server: McpServer) -> Watching:
    """A recording under way, with a clock that stands still until it is set."""
    events: list[dict[str, JsonValue]] = []
    clock = [0.0]
    shared = Run(events.append, lambda: 3, lambda: clock[0])
    findings = Findings(server.name, events.append)
    policy = Policy(server, Approvals.asked_by(()))
    return Watching(Recording(Journal(server.name, shared), policy, findings), MemoryPeer(), events, clock)


@pytest.fixture
def recorded(watching: Watching) -> Recorded:
    """The lane of a conversation, `("agent" | "server", message)` in order."""

    def make(*conversation: tuple[str, Message]) -> Lane:
        for who, message in conversation:
            if who == "agent":
                watching.recording.from_agent(watching.peer, message)
            else:
                watching.recording.from_server(watching.peer, message)
        return watching.lane()

    return make
