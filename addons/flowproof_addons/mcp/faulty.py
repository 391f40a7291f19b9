"""The spec's `faults:` on one lane: which call fails, and how."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from flowproof_addons.faults import Faults
from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.journal import Journal
from flowproof_addons.mcp.message import Message
from flowproof_addons.mcp.peer import Peer
from flowproof_addons.mcp.tool_result import tool_result
from flowproof_addons.session import McpFault


@dataclass(slots=True)
class LaneFaults:
    """Counts the calls of each tool; one that fails is not counted, so that its repetition is the same call."""

    server: str = ""
    faults: Faults = field(default_factory=Faults)
    _answered: Counter[str] = field(default_factory=Counter)

    def due(self, message: Message) -> McpFault | None:
        """The fault of a request, which then has happened."""
        tool = rpc.tool(rpc.method(message), rpc.params(message))
        if not tool:
            return None
        fault = self.faults.of_call(self.server, tool, self._answered[tool] + 1)
        if fault is None or fault.kind == "slow":
            self._answered[tool] += 1
        if fault is not None:
            self.faults.fired(fault)
        return fault


def outcome(fault: McpFault, message: Message) -> Message | None:
    """What the agent is answered; None for a fault that is no answer."""
    match fault.kind:
        case "error":
            return {"result": tool_result(fault.message, True, rpc.modern(message))}
        case "rpc_error":
            return {"error": {"code": fault.code, "message": fault.message}}
        case _:
            return None


def strike(fault: McpFault, message: Message, peer: Peer, journal: Journal) -> None:
    """Let a call fail. A server that says nothing is gone in the end: it holds no agent for ever."""
    number = journal.opened(message, peer.session or 0, "fault")
    answer = outcome(fault, message)
    if answer is not None:
        journal.closed(number, answer, by="fault")
        peer.answer(message, answer)
        return
    journal.cancelled(number)  # nobody is to wait for an answer
    if fault.kind == "dies":
        peer.hang_up(message)
    else:
        asyncio.get_running_loop().call_later(fault.seconds, peer.hang_up, message)
