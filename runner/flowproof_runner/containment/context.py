"""What the handlers of one supervisor share."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from flowproof_runner.containment.journal import Journal
from flowproof_runner.containment.policy import Policy
from flowproof_runner.containment.sockaddr import Endpoint
from flowproof_runner.containment.target import Call, lineage

_MEMORY = 4096


class Context:
    """Policy, journal and the little state that calls of different tasks have in common."""

    def __init__(self, policy: Policy, journal: Journal, folder: str) -> None:
        """`folder`: the run folder; what is destroyed below it is ours."""
        self.policy = policy
        self.journal = journal
        self.folder = folder
        self.root = os.getpid()
        self.nameserver: Endpoint | None = None
        """Our own name server; None until it listens."""
        self.nameserver6: Endpoint | None = None
        self.crowded: Callable[[], bool] = bool
        """True when a handler must not block."""
        self.names: dict[str, str] = {}
        """Address to the name it was last given out for."""
        self.askers: dict[int, int] = {}
        """Local port of a socket that was led to our name server, to the task that owns it."""
        self.asked: dict[int, bytes] = {}
        """Local port of such a socket, to the raw address its owner believes to have asked."""
        self.abstract: set[bytes] = set()
        """Abstract AF_UNIX names bound inside the tree."""
        self.files: set[tuple[int, int]] = set()
        """Socket files bound inside the tree, by device and inode."""
        self.binding = threading.Lock()
        """Held while a socket's local address is looked at and acted upon, and while the working directory is
        borrowed."""
        self._seen: set[object] = set()

    def first(self, key: object) -> bool:
        """True the first time something repetitive is seen; what is seen past a generous number counts as new."""
        if key in self._seen:
            return False
        if len(self._seen) < _MEMORY:
            self._seen.add(key)
        return True

    def report(self, kind: str, call: Call, to: str, protocol: str, **more: object) -> None:
        """Note one attempt, with the process that made it and the way that process came to be."""
        chain = lineage(call.tid, self.root)
        self.journal.tell(kind, to=to, protocol=protocol, chain=chain, **more)

    def refuse(self, kind: str, call: Call, to: Endpoint, protocol: str) -> None:
        """Note a refused internet destination."""
        self.report(kind, call, str(to), protocol, name=self.names.get(str(to.ip), ""))
