"""The agent's end of one connection, whatever carries it."""

from __future__ import annotations

from typing import Protocol

from flowproof_addons.mcp.message import Message

NOTED = frozenset({"notifications/initialized", "notifications/roots/list_changed"})
"""Notifications of the agent that servers react to."""


class Peer(Protocol):
    """A stdio pipe, or an HTTP session."""

    session: int | None
    """Which session of the lane it is, counted from 0 by first meaningful message; None until then."""
    answered: float
    """When a request on it was last answered, on the run's clock; minus infinity until then."""

    def answer(self, request: Message, outcome: Message, status: int = 200) -> None:
        """Answer a request of the agent. `status` matters to HTTP only."""
        ...

    def hang_up(self, request: Message) -> None:
        """Be gone, as a server that crashed over this request."""
        ...

    def send(self, message: Message, within: Message | None) -> None:
        """Send a message of the server's own; `within`: the agent's open request it belongs to."""
        ...
