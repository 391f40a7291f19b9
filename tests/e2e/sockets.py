"""A model that speaks the Responses WebSocket: what it answers over HTTP, event by event, on one connection."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Thread
from types import TracebackType
from typing import Any, Self

from tests.e2e.upstream import Answer, Seen
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve


@dataclass(slots=True)
class SocketUpstream:
    """The server, on a thread of its own. `cut`: hang up after so many events of an answer."""

    handler: Callable[[Seen], Answer]
    said: list[Any] = field(default_factory=list)
    """Every message that came."""
    keys: list[str | None] = field(default_factory=list)
    """The Authorization of every connection."""
    cut: int | None = None
    url: str = ""
    _server: Server | None = None
    _thread: Thread | None = None

    def __enter__(self) -> Self:
        self._server = serve(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.socket.getsockname()[1]}"
        self._thread = Thread(target=self._server.serve_forever, name="sockets")
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """Take no more connections. Twice is once."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server = None

    def _serve(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        self.keys.append(connection.request.headers.get("authorization"))
        try:
            for text in connection:
                self.said.append(json.loads(text))
                for number, event in enumerate(self._events(connection.request.path, self.said[-1])):
                    if number == self.cut:
                        connection.socket.shutdown(socket.SHUT_RDWR)  # closing alone waits for its reader
                        return
                    connection.send(event)
        except ConnectionClosed:
            return

    def _events(self, path: str, message: dict[str, Any]) -> Iterator[str]:
        asked = {**message, "stream": True}
        if asked.pop("type") != "response.create":
            yield json.dumps({"type": "error", "status": 400, "error": {"message": "what?"}})
            return
        answer = self.handler(Seen("POST", path, (), json.dumps(asked).encode()))
        for step in answer.steps:
            assert isinstance(step, bytes)
            if answer.status >= 400:
                yield json.dumps({"type": "error", "status": answer.status, **json.loads(step)})
            else:
                yield step.split(b"data: ", 1)[1].decode().strip()
