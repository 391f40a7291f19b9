"""One HTTP exchange on its way through the hooks, and what is to become of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flowproof_addons.dialects.base import Dialect
from flowproof_addons.matching.matcher import Hit
from flowproof_addons.session import ModelFault
from flowproof_addons.trace.model import Exchange, Reply, Request

if TYPE_CHECKING:
    from flowproof_addons.live.progress import Live

ABANDONED = 0
"""Status of a reply that never came because the agent hung up first; at replay the call is held, not answered."""

AFTER = "flowproof: this run has already diverged; nothing more is answered"
"""What every later request is told."""


@dataclass(slots=True)
class Crossing:
    """One HTTP exchange on its way through the hooks."""

    live: Live
    request: Request
    """As the model is told: with the spec's tool results in place."""
    dialect: Dialect | None
    chunks: list[bytes] = field(default_factory=list)
    """The teed stream."""
    settled: bool = False
    """Written to the journal, or answered by policy: nothing more to do."""
    cut: bool = False
    """Break the connection after the answer."""
    place: int | None = None
    """Its place in the order of arrival."""
    turn: int | None = None
    """Number of this model turn in the run, from 1; None for a side call."""
    user_turn: int | None = None
    """In a conversation: what it came of, from 1."""
    exchange: Exchange | None = None
    """What crossed, once that is known."""
    due: Due | None = None
    """At record: the fault to be done to its answer."""
    fetched: Reply | None = None
    """At record: the answer, to be passed on slowly."""


@dataclass(frozen=True, slots=True)
class Due:
    """A fault whose time has come."""

    fault: ModelFault
    turn: int
    recorded: Hit | None = None
    """At replay: the recording the request would get, or had got when it was recorded under this fault."""
