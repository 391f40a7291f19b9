"""Which connection of this run stands for which recorded session."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from flowproof_addons.mcp.peer import Peer


@dataclass(slots=True)
class Sessions:
    """Connections are numbered as they come, and numbered anew by their first call, which says whose place they take.

    Agents open one connection per call and several at once: which of them comes first is chance, but what a server
    said to one of them before it answered must come before that answer again.
    """

    _peers: dict[int, Peer] = field(default_factory=dict)
    _settled: set[int] = field(default_factory=set)

    def join(self, peer: Peer) -> int:
        """The number of a connection, which is its own from its first meaningful message on."""
        if peer.session is None:
            peer.session = next(number for number in count() if number not in self._peers)
            self._peers[peer.session] = peer
        return peer.session

    def settle(self, peer: Peer, session: int) -> int | None:
        """The connection makes a call recorded in `session`: the number it had, if it changed places with another."""
        before = self.join(peer)
        free = before != session and not {before, session} & self._settled
        if free:
            self._put(before, self._peers.pop(session, None))
            self._put(session, peer)
        self._settled.add(session if free else before)
        return before if free else None

    def of(self, session: int) -> Peer | None:
        """The connection that stands for a recorded session; None while there is none."""
        return self._peers.get(session)

    def _put(self, session: int, peer: Peer | None) -> None:
        if peer is None:
            del self._peers[session]
        else:
            self._peers[session], peer.session = peer, session
