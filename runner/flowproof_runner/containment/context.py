"""What the handlers of one supervisor share."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from flowproof_runner.containment.journal import Journal
from flowproof_runner.containment.policy import Policy
from flowproof_runner.containment.sockaddr import Endpoint
from flowproof_runner.containment.target import Call, lineage

_MEMORY = 4096


@dataclass(slots=True)
class Context:
    """Policy, journal and the little state that calls of different tasks have in common."""

    policy: Policy
    journal: Journal
    folder: str
    """The run folder: what is destroyed below it is ours."""
    nameserver: Endpoint | None = None
    """Our own name server; None until it listens."""
    nameserver6: Endpoint | None = None
    crowded: Callable[[], bool] = bool
    """True when a handler must not block."""
    names: dict[str, str] = field(default_factory=dict)
    """Address to the name it was last given out for."""
    askers: dict[int, int] = field(default_factory=dict)
    """Local port of a socket that was led to our name server, to the task that owns it."""
    asked: dict[int, bytes] = field(default_factory=dict)
    """Local port of such a socket, to the raw address its owner believes to have asked."""
    abstract: set[bytes] = field(default_factory=set)
    """Abstract AF_UNIX names bound inside the tree."""
    files: set[tuple[int, int]] = field(default_factory=set)
    """Socket files bound inside the tree, by device and inode."""
    binding: threading.Lock = field(default_factory=threading.Lock)
    """Held while a socket's local address is looked at and acted upon, and while the working directory is borrowed."""
    root: int = field(default_factory=os.getpid)
    _seen: set[object] = field(default_factory=set)

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
