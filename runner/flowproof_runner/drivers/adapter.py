"""The agent as an adapter: a process that asks for tools on stdout and is answered on stdin."""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers import adapter_protocol as protocol
from flowproof_runner.drivers.adapter_pipe import AdapterPipe, AdapterTimeout
from flowproof_runner.drivers.adapter_protocol import Confirmation, Final, Hello, Message, ProtocolViolation, ToolCall
from flowproof_runner.drivers.backend import UNSET, Answer, BackendContext, BackendError, Discovery, ToolBackend
from flowproof_runner.drivers.base import DriverError
from flowproof_runner.drivers.command import MARK
from flowproof_runner.drivers.spawn import Launch
from flowproof_runner.evidence.model import (
    ADAPTER,
    AnyEvent,
    Concluded,
    Confirmed,
    Decided,
    Denied,
    Discovered,
    Dispatched,
    Evidence,
    Returned,
)

MAX_EVENTS = 10_000

type Refusal = Callable[[Sequence[AnyEvent], str, str, str, JsonValue], str | None]
"""(events so far, call id, tool, lane, arguments) -> why the call must not be dispatched, None if it may."""


@dataclass(frozen=True, slots=True)
class AdapterRun:
    """One run of an adapter."""

    evidence: Evidence
    """Complete only if the run was."""
    problem: str | None = None
    """What broke the run: a protocol violation, a timeout, a backend failure."""
    timed_out: bool = False
    denied: bool = False
    """Ended by the gate."""
    exit_code: int | None = None
    duration_ms: float = 0.0
    stderr: str = ""
    survivors: int = 0


@dataclass(frozen=True, slots=True)
class Adapter:
    """Runs an adapter once over a backend."""

    words: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    scenario: str
    message: str
    backend: ToolBackend
    data: JsonValue = None
    has_data: bool = False
    gate: Refusal | None = None
    context: BackendContext | None = None
    timeout_s: float = 30.0
    accepted: frozenset[int] | None = frozenset({0})
    """Exit codes that are right; None: any."""
    folder: Path | None = None
    interrupted: Callable[[], bool] = field(default=lambda: False)
    arrived: Callable[[], int] | None = None
    """How many model requests of the same run have arrived by now; None where there is no model to observe."""

    def run(self) -> AdapterRun:
        """Start the backend and the adapter, answer until the end; nothing of either is left running."""
        recorder = _Recorder(time.monotonic())
        session = _Session(self, recorder)
        problem: str | None = None
        timed_out = False
        try:
            session.discover()
            session.converse()
        except (ProtocolViolation, BackendError, DriverError) as error:
            problem, timed_out = str(error), isinstance(error, AdapterTimeout)
        except _Refused:
            pass
        finally:
            elapsed_ms = recorder.now()
            cleanup = _closed(self.backend)
        problem = problem or cleanup
        complete = problem is None and not session.refused
        evidence = Evidence(tuple(recorder.events), frozenset({ADAPTER}), duration_ms=elapsed_ms, complete=complete)
        return AdapterRun(
            evidence,
            problem,
            timed_out,
            session.refused,
            session.exit_code,
            elapsed_ms,
            session.stderr,
            session.survivors,
        )


class _Refused(Exception):
    """The gate refused a call of an adapter that does not understand refusals."""


@dataclass
class _Recorder:
    """Writes events down in order."""

    started: float
    events: list[AnyEvent] = field(default_factory=list)
    turn: int | None = None
    """The model turn the adapter has come to."""

    def now(self) -> float:
        return (time.monotonic() - self.started) * 1000

    def add(self, kind: type[AnyEvent], *, lane: str = ADAPTER, **members: object) -> None:
        """Raises ProtocolViolation beyond the limit."""
        if len(self.events) >= MAX_EVENTS:
            raise ProtocolViolation(f"the adapter caused more than {MAX_EVENTS} events")
        self.events.append(kind(seq=len(self.events), lane=lane, turn=self.turn, at_ms=self.now(), **members))  # type: ignore[arg-type]


@dataclass
class _Session:
    """The conversation with one adapter process."""

    adapter: Adapter
    recorder: _Recorder
    understands: frozenset[str] = frozenset()
    refused: bool = False
    exit_code: int | None = None
    stderr: str = ""
    survivors: int = 0
    _seen: set[str] = field(default_factory=set)
    _first: bool = True

    def discover(self) -> None:
        """Start the backend; only what servers say they offer becomes evidence."""
        context = self.adapter.context or BackendContext(self.adapter.scenario, timeout_s=self.adapter.timeout_s)
        try:
            found = self.adapter.backend.start(context)
        except BackendError:
            raise
        except Exception as error:  # user code
            raise BackendError(f"the backend could not start: {error}") from error
        for discovery in found:
            if not isinstance(discovery, Discovery):
                raise BackendError(f"at its start a backend may only say what servers offer, not {discovery!r}")
            self.recorder.add(
                Discovered, lane=discovery.server, capabilities=discovery.capabilities, tools=discovery.tools
            )

    def converse(self) -> None:
        """Everything from run_start to the adapter's exit."""
        adapter = self.adapter
        with tempfile.TemporaryDirectory() as scratch:
            launch = _launch(adapter, adapter.folder or Path(scratch))
            pipe = AdapterPipe(launch, self.recorder.started + adapter.timeout_s, adapter.interrupted)
            try:
                with pipe:
                    pipe.send(
                        protocol.run_start(adapter.scenario, adapter.message, adapter.data, has_data=adapter.has_data)
                    )
                    self._until_final(pipe)
                    pipe.close_stdin()
                    self._until_exit(pipe)
            finally:
                self.stderr = pipe.stderr if hasattr(pipe, "_errors") else ""
                self.survivors = pipe.stopped.others

    def _until_final(self, pipe: AdapterPipe) -> None:
        while True:
            line = pipe.line()
            if line is None:
                raise self._ended_early(pipe)
            message = protocol.parse(line)
            if self.adapter.arrived is not None:
                self.recorder.turn = self.adapter.arrived()
            if self._seen and pipe.unread():
                raise ProtocolViolation(f"{_what(message)} was sent before what we wrote was read")
            if self._take(message, pipe):
                return

    def _take(self, message: Message, pipe: AdapterPipe) -> bool:
        """Act on one message; True after the final one."""
        first, self._first = self._first, False
        match message:
            case Hello(understands=words):
                if not first:
                    raise ProtocolViolation("hello must be the first message")
                self.understands = words
            case ToolCall():
                self._call(message, pipe)
            case Confirmation():
                self.recorder.add(
                    Confirmed,
                    call=None,
                    tool=message.tool,
                    arguments=message.arguments,
                    granted=message.confirmed,
                    id=message.source,
                )
            case Final(status=status, output=output):
                self.recorder.add(Concluded, status=status, output=output)
                return True
        return False

    def _call(self, call: ToolCall, pipe: AdapterPipe) -> None:
        if call.id in self._seen:
            raise ProtocolViolation(f"callId {call.id!r} was used twice")
        self._seen.add(call.id)
        arguments: JsonValue = call.arguments
        self.recorder.add(
            Decided,
            call=call.id,
            tool=call.tool,
            arguments=arguments,
            arguments_text=json.dumps(arguments, ensure_ascii=False),
            thread="",
            group=len(self.recorder.events),
        )
        if self._refuse(call, pipe):
            return
        answer = self._dispatch(call)
        if pipe.pending():
            raise ProtocolViolation(f"the adapter went on before it had the result of {call.tool} (callId {call.id!r})")
        pipe.send(protocol.tool_result(call, answer.result))

    def _dispatch(self, call: ToolCall) -> Answer:
        self.recorder.add(Dispatched, call=call.id, tool=call.tool, arguments=call.arguments)
        started = time.monotonic()
        try:
            answer = self.adapter.backend.call(call.tool, dict(call.arguments))
        except BackendError:
            raise
        except Exception as error:  # user code
            raise BackendError(f"the backend failed at {call.tool}: {error}") from error
        took = (time.monotonic() - started) * 1000 if answer.duration_ms is None else answer.duration_ms
        self.recorder.add(
            Returned,
            lane=answer.server or ADAPTER,
            call=call.id,
            tool=call.tool,
            result=answer.result if answer.evidence_result is UNSET else answer.evidence_result,
            is_error=answer.is_error,
            mocked=answer.source == "fixture",
            duration_ms=took,
            size_bytes=answer.size_bytes,
            fixture_miss=answer.fixture_miss,
        )
        return answer

    def _refuse(self, call: ToolCall, pipe: AdapterPipe) -> bool:
        gate = self.adapter.gate
        if gate is None:
            return False
        reason = gate(self.recorder.events, call.id, call.tool, ADAPTER, call.arguments)
        if reason is None:
            return False
        self.recorder.add(Denied, call=call.id, tool=call.tool, arguments=call.arguments, reason=reason)
        if "tool_denied" not in self.understands:
            self.refused = True
            raise _Refused
        pipe.send(protocol.tool_denied(call, reason))
        return True

    def _until_exit(self, pipe: AdapterPipe) -> None:
        line = pipe.line()
        if line is not None:
            raise ProtocolViolation(f"the adapter wrote more after its final message: {line[:200]!r}")
        self.exit_code = pipe.exit_code()
        if self.adapter.accepted is not None and self.exit_code not in self.adapter.accepted:
            raise ProtocolViolation(f"the adapter ended with {_ending(self.exit_code)}")

    def _ended_early(self, pipe: AdapterPipe) -> ProtocolViolation:
        try:
            self.exit_code = pipe.exit_code()
        except AdapterTimeout as error:
            return error
        how = f" with {_ending(self.exit_code)}" if self.exit_code else ""
        return ProtocolViolation(f"the adapter ended{how} without a final message")


def _launch(adapter: Adapter, folder: Path) -> Launch:
    mark = secrets.token_hex(8)
    environment = {**adapter.env, **protocol.VERSIONS, MARK: mark}
    out, err = folder / "stdout.txt", folder / "stderr.txt"
    return Launch(adapter.words, adapter.cwd, environment, out, err, f"{MARK}={mark}")


def _closed(backend: ToolBackend) -> str | None:
    """Close the backend; what goes wrong there, else None."""
    try:
        backend.close()
    except Exception as error:  # user code
        return f"the backend could not be closed: {error}"
    return None


def _what(message: Message) -> str:
    return type(message).__name__.lower()


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
