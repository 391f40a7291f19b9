"""An agent's end of a lane, in memory, and messages to send over it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.findings import Findings
from flowproof_addons.mcp.lane import Lane
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.record import Recording
from flowproof_addons.mcp.replay import Replay
from flowproof_addons.trace.model import JsonValue


@dataclass(eq=False)
class MemoryPeer:
    """Keeps what it is sent, in order: `("answer", id, outcome)` and `("sent", method)`."""

    session: int | None = None
    answered: float = float("-inf")
    got: list[tuple[JsonValue, ...]] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def answer(self, request: Message, outcome: Message, status: int = 200) -> None:
        self.got.append(("answer", request.get("id"), outcome))
        self.statuses.append(status)

    def hang_up(self, request: Message) -> None:
        self.got.append(("gone", request.get("id")))

    def send(self, message: Message, within: Message | None) -> None:
        self.got.append(("sent", rpc.method(message)))
        self.messages.append(message)

    def answers(self) -> dict[JsonValue, JsonValue]:
        """Per request id, the outcome."""
        return {each[1]: each[2] for each in self.got if each[0] == "answer"}

    async def until(self, count: int) -> None:
        """Wait until so many things came."""
        async with asyncio.timeout(60):
            while len(self.got) < count:
                await asyncio.sleep(0.002)


@dataclass
class Playing:
    """A lane being replayed, and what it says of the agent."""

    replay: Replay
    findings: Findings
    peer: MemoryPeer
    events: list[dict[str, JsonValue]]

    def receive(self, *messages: Message, peer: MemoryPeer | None = None) -> None:
        for message in messages:
            self.replay.receive(peer or self.peer, message)

    def finished(self) -> list[str]:
        """The ids of all findings, at the end."""
        self.replay.close()
        return [str(entry["id"]) for entry in self.findings.entries]


type Scenario = Callable[[Playing], Awaitable[None]]
type Play = Callable[[Lane, Scenario], Playing]
type Recorded = Callable[..., Lane]


@dataclass
class Watching:
    """A lane being recorded."""

    recording: Recording
    peer: MemoryPeer
    events: list[dict[str, JsonValue]]
    clock: list[float]

    def lane(self) -> Lane:
        return self.recording.journal.lane()


def request(
    id_: JsonValue, method: str, params: Mapping[str, JsonValue] | None = None, meta: JsonValue = None
) -> Message:
    """A JSON-RPC request."""
    given: dict[str, JsonValue] = dict(params or {})
    if meta is not None:
        given["_meta"] = meta
    return {"jsonrpc": "2.0", "id": id_, "method": method, **({"params": given} if given else {})}


def tool_call(id_: JsonValue, tool: str, meta: JsonValue = None, **arguments: JsonValue) -> Message:
    """A `tools/call` request."""
    return request(id_, "tools/call", {"name": tool, "arguments": arguments}, meta)


def said(id_: JsonValue, text: str) -> Message:
    """A tool's answer."""
    return {"jsonrpc": "2.0", "id": id_, "result": {"content": [{"type": "text", "text": text}]}}


def note(method: str, **params: JsonValue) -> Message:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}
