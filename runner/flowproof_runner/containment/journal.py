"""What the supervisor tells the tool: one JSON object a line, written as it happens."""

from __future__ import annotations

import json
import os
import threading
import time


class Journal:
    """The supervisor's end of the pipe to the tool."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self._start = time.monotonic()

    def tell(self, event: str, **fields: object) -> None:
        """Write one event; a tool that is gone is found out by the control pipe, not here."""
        fields = {"event": event, "at_ms": round((time.monotonic() - self._start) * 1000, 1), **fields}
        line = json.dumps(fields).encode() + b"\n"
        with self._lock:
            try:
                while line:
                    line = line[os.write(self._fd, line) :]
            except BrokenPipeError:
                return

    def fault(self, message: str) -> None:
        """Note that something could not be judged: the run cannot be certified."""
        self.tell("fault", message=message)
