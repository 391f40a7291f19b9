"""Keeps the answers of overlapping calls apart, in both phases.

Agents hand tool results to the model in the order they come back, so two answers in one burst make the next model
request a coin toss: claude-code's replays were out of order in 6 of 6 runs at 0 ms, 1 of 6 at 5 ms, 0 of 6 at 25 ms.
"""

from __future__ import annotations

from dataclasses import dataclass

from flowproof_addons.mcp.peer import Peer

GAP_S = 0.025
FRAME_GAP_S = 0.025
"""Between a notification and the answer it belongs to: a client that reads both at once may lose the former (the
TypeScript SDKs over stdio; at 5 ms still 1 of 30 on a busy machine)."""
PUSH_GAP_S = 0.025
"""Between an answer and what the server says next, while nothing is open: a client that closes on its last answer may
break on what comes in the same read (Python SDK 1.x over stdio, BrokenResourceError in 11 of 20 replays)."""


def after_answer(peer: Peer, now: float) -> float:
    """Seconds a push must wait after the latest answer on its connection."""
    return max(0.0, peer.answered + PUSH_GAP_S - now)


@dataclass(slots=True)
class Pace:
    """When the last answer of any lane went out."""

    last: float = float("-inf")

    def delay(self, opened: float, now: float) -> float:
        """Seconds an answer must wait: only if its call was already open when the last answer went out."""
        return max(0.0, self.last + GAP_S - now) if opened <= self.last else 0.0

    def closed(self, now: float) -> None:
        """An answer goes out."""
        self.last = now
