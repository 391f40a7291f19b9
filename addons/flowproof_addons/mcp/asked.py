"""What is open at replay: calls of the agent, and requests of the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flowproof_addons.mcp.lane import Frame
from flowproof_addons.mcp.message import Key, Message
from flowproof_addons.mcp.peer import Peer
from flowproof_addons.mcp.policy import Local


@dataclass(slots=True)
class Asked:
    """A positional call of this run."""

    peer: Peer
    message: Message
    key: Key
    place: int
    local: Local | None = None
    """The spec's own answer, if it has one."""
    number: int = -1
    """In the journal, once it is let through."""
    opened: float = 0.0
    slow_s: float = 0.0
    """A fault: the answer comes no earlier than so long after the request."""
    last_frame: float = float("-inf")


@dataclass(frozen=True, slots=True)
class Pending:
    """A server request the agent has not answered yet."""

    peer: Peer
    message: Message
    frame: Frame
    journal: Callable[[Message], None]
