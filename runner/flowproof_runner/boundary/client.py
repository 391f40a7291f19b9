"""The boundary process: one mitmdump for a whole invocation, sessions opened and closed over its control socket."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from flowproof_addons.session import Session
from flowproof_addons.trace import journal
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.boundary.outcome import Outcome, integer, outcome_of, strings
from flowproof_runner.boundary.process import BoundaryError, BoundaryProcess
from flowproof_runner.drivers.dialogue import Settling

type Message = dict[str, JsonValue]

_START_S = 60.0
_ANSWER_S = 60.0


@dataclass(slots=True)
class BoundarySession:
    """One flow's side of the boundary, while its agent runs."""

    id: str
    port: int
    mcp_urls: Mapping[str, str]
    mcp_servers: Mapping[str, str]
    folder: Path
    _boundary: Boundary
    diverged: threading.Event = field(default_factory=threading.Event)
    """Set at the first divergence, finding or problem: the run can only fail, stop the agent."""
    turns: int = 0
    """Model requests that have arrived so far."""
    _rest: dict[int, Settling] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The model API's base URL, without `/v1`."""
        return f"http://127.0.0.1:{self.port}"

    def begin(self, user_turn: int) -> None:
        """Of a conversation: what arrives from now on belongs to this user turn."""
        self._boundary.begin(self, user_turn)

    def settling(self, user_turn: int) -> Settling | None:
        """Of a conversation: how this user turn came to rest; None while the agent is at work on it."""
        return self._rest.get(user_turn)

    def arrived(self) -> int:
        """How many model requests have arrived by now; asked of the boundary, for its events come a little later."""
        return self._boundary.arrived(self)

    def close(self) -> Outcome:
        """End the session; whoever is still connected is cut off."""
        return self._boundary.close_session(self)

    def heard(self, event: Message) -> None:
        """Take one event of the boundary."""
        if event["event"] == "turn":
            self.turns += 1
        elif event["event"] == "fault":
            self.turns -= 1
        elif event["event"] == "settled":
            self._rest[integer(event["user_turn"])] = Settling("settled", str(event["text"]))
        elif event["event"] == "stalled":
            self._rest[integer(event["user_turn"])] = Settling("stalled", str(event["why"]))
        elif event["event"] in ("divergence", "finding", "problem"):
            self.diverged.set()


class Boundary:
    """Speaks to a boundary process that may still be starting: the first `open` waits for it."""

    def __init__(self, process: BoundaryProcess) -> None:
        self._process = process
        self.web = ""
        """Where mitmweb is, token included, once it is ready; empty under mitmdump."""
        self._ids = itertools.count(1)
        self._waiting: dict[int, Future[Message]] = {}
        self._sessions: dict[str, BoundarySession] = {}
        self._ready: Future[None] = Future()
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        """Flows run in threads, and a message may take several writes: two of them must not mix."""
        self._reader = threading.Thread(target=self._read, name="flowproof-boundary", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def open(self, session: Session) -> BoundarySession:
        """Begin a session. Raises BoundaryError if the boundary cannot serve it."""
        self.ready()
        opened = BoundarySession(session.id, 0, {}, {}, session.folder, self)
        with self._lock:
            self._sessions[session.id] = opened
        try:
            found = self._ask({"do": "open", "session": session.model_dump(mode="json")})
        except BoundaryError:
            with self._lock:
                self._sessions.pop(session.id)
            raise
        opened.port = integer(found["port"])
        opened.mcp_urls, opened.mcp_servers = strings(found["mcp_urls"]), strings(found["mcp_servers"])
        return opened

    def load(self, addon: Path) -> None:
        """Let a user's addon file in. Raises BoundaryError if it cannot be loaded."""
        self.ready()
        self._ask({"do": "load", "path": str(addon)})

    def show(self, trace: Path, name: str, *, several: bool) -> int:
        """Put a trace's requests into mitmweb; how many. `several`: it is one of many, its lines bear its name.

        Raises BoundaryError if the trace cannot be read.
        """
        self.ready()
        return integer(
            self._ask({"do": "show", "path": str(trace.absolute()), "name": name, "several": several})["flows"]
        )

    def ready(self) -> None:
        """Wait until the process answers. Raises BoundaryError if it never does."""
        try:
            self._ready.result(_START_S)
        except FutureTimeout as error:
            raise BoundaryError(f"mitmproxy was not ready after {_START_S:.0f} s; see {self._process.log}") from error

    def wait(self) -> None:
        """Return when the process has hung up."""
        self._reader.join()

    def begin(self, session: BoundarySession, user_turn: int) -> None:
        """Tell the boundary of the next user turn, before the agent is."""
        self._ask({"do": "begin", "session": session.id, "user_turn": user_turn})

    def arrived(self, session: BoundarySession) -> int:
        """How many model requests have arrived in a session."""
        return integer(self._ask({"do": "turns", "session": session.id})["turns"])

    def close_session(self, session: BoundarySession) -> Outcome:
        """End a session and read its journal."""
        found = self._ask({"do": "close", "session": session.id})
        with self._lock:
            self._sessions.pop(session.id, None)
        return outcome_of(found, journal.read(session.folder / "trace.jsonl"))

    def close(self) -> None:
        """End the boundary process, always."""
        self._process.end()
        self._reader.join(_ANSWER_S)

    def _ask(self, message: Message) -> Message:
        number = next(self._ids)
        answer: Future[Message] = Future()
        with self._lock:
            self._waiting[number] = answer
        try:
            self._send({"id": number, **message})
            found = answer.result(_ANSWER_S)
        except FutureTimeout as error:
            raise BoundaryError(f"the boundary does not answer; see {self._process.log}") from error
        except OSError as error:
            raise self._ended() from error
        if "bug" in found:
            raise BoundaryError(f"the boundary failed: {found['bug']}; see {self._process.log}")
        if "error" in found:
            raise BoundaryError(str(found["error"]))
        return found

    def _send(self, message: Message) -> None:
        line = json.dumps(message).encode() + b"\n"
        with self._sending:
            self._process.socket.sendall(line)

    def _read(self) -> None:
        """Hand out answers and events until the boundary hangs up."""
        try:
            with self._process.socket.makefile("rb") as lines:
                for line in lines:
                    self._take(json.loads(line))
        except OSError:
            pass
        finally:
            self._lost()  # whatever ended this thread, nobody may wait for it any more

    def _take(self, message: Message) -> None:
        if "id" in message:
            with self._lock:
                waiting = self._waiting.pop(integer(message["id"]))
            waiting.set_result(message)
        elif message.get("event") == "ready":
            self.web = str(message.get("web") or "")
            self._ready.set_result(None)
        else:
            with self._lock:
                session = self._sessions.get(str(message["session"]))
            if session is not None:
                session.heard(message)

    def _lost(self) -> None:
        """The boundary is gone: nobody may wait for it, and no run may pass without it."""
        error = self._ended()
        with self._lock:
            waiting, self._waiting = list(self._waiting.values()), {}
            sessions = list(self._sessions.values())
        for answer in waiting:
            answer.set_exception(error)
        if not self._ready.done():
            self._ready.set_exception(error)
        for session in sessions:
            session.diverged.set()

    def _ended(self) -> BoundaryError:
        return BoundaryError(f"the boundary process ended: {self._process.last_words()}")
