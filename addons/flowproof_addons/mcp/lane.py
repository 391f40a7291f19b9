"""A lane: everything one MCP server was asked and said in a run, and its place in a cassette.

All `at`, `opened`, `closed`… are ticks of one clock that every lane of the run shares: only their order means
anything. Requests are kept without `_meta` and without ids, answers and server messages whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from flowproof_addons.mcp.message import Message
from flowproof_addons.trace.model import JsonValue

type Author = Literal["server", "spec", "enforce", "fault"]
"""Who answered: the real server, a declared result, the refusal of a forbidden call, or one of the spec's faults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A message of the server's own: a notification, or a request that the agent answered."""

    at: int
    message: Message
    session: int = 0
    answer: Message | None = None
    """The agent's outcome, for a request."""
    answered: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that is matched by position."""

    method: str
    params: Mapping[str, JsonValue]
    opened: int
    session: int = 0
    turns: int = 0
    """Model turns that had been served when it arrived."""
    frames: tuple[Frame, ...] = ()
    """What the server sent as part of it, before the answer."""
    cancelled: int | None = None
    closed: int | None = None
    outcome: Message | None = None
    """`{"result": …}` or `{"error": …}`; None when it was never answered."""
    status: int = 200
    """HTTP status of the answer."""
    by: Author = "server"
    user_turn: int | None = None
    """In a conversation: the user turn it belongs to, from 1."""
    tool_use: str = ""
    """The model's id of the tool call, where the client passes it on."""
    ms: int = 0
    """How long the answer took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A catalogue request and its answer."""

    method: str
    params: Mapping[str, JsonValue]
    protocol: str
    outcome: Message
    after: int
    """How many positional calls had been answered before: a list may change during a run."""
    status: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A notification of the agent that server messages may wait for."""

    at: int
    session: int
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One server's traffic."""

    transport: Literal["stdio", "http"] = "stdio"
    calls: tuple[Call, ...] = ()
    catalogue: tuple[Listing, ...] = ()
    pushes: tuple[Frame, ...] = ()
    """Server messages outside any call."""
    notes: tuple[Note, ...] = ()
    session_ids: bool = False
    """The HTTP server issued session ids (the ids themselves are credentials and never kept)."""
    push_status: int = 200
    """What a GET for the push stream was answered: 200 or 405."""
    remarks: tuple[str, ...] = field(default=())
    """What a reader should know: lines on stdout that were not JSON, late messages."""
