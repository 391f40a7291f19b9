"""An MCP server as a child process, one JSON message a line."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event, Thread

from flowproof_runner.drivers import tree
from flowproof_runner.drivers.command import MARK
from flowproof_runner.drivers.mcp_client import McpFailure, Message, message_of


class StdioWire:
    """A server as a child process, one JSON message a line."""

    def __init__(
        self, server: str, words: tuple[str, ...], cwd: Path, env: Mapping[str, str], log: Path | None
    ) -> None:
        self.server = server
        self._mark = f"{MARK}={secrets.token_hex(8)}"
        self._ended = Event()
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        tree.adopt_orphans()
        with open(log or os.devnull, "ab") as errors:
            try:
                self._process = subprocess.Popen(
                    words,
                    cwd=cwd,
                    env={**env, MARK: self._mark.partition("=")[2]},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise McpFailure(f"MCP server {server!r} cannot be started: {words[0]!r}: {error}") from error
        Thread(target=self._read, name=f"mcp-{server}", daemon=True).start()
        Thread(target=self._wait, daemon=True).start()

    def request(self, message: Message, deadline: float) -> Iterator[Message]:
        """See Wire."""
        self.notify(message)
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise McpFailure(f"MCP server {self.server!r} did not answer {message['method']} in time") from None
            if line is None:
                return
            found = message_of(line)
            if found is not None:
                yield found

    def notify(self, message: Message) -> None:
        """See Wire."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise McpFailure(f"MCP server {self.server!r} ended") from error

    def agree(self, version: str) -> None:
        """See Wire; nothing on this transport says the version again."""

    def close(self) -> None:
        """See Wire."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._ended.wait(0.2)
        tree.end(self._process.pid, self._mark, 0.5, self._ended)
        self._ended.wait(1.0)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as out:
            for line in out:
                self._lines.put(line)
        self._lines.put(None)

    def _wait(self) -> None:
        self._process.wait()
        self._ended.set()
