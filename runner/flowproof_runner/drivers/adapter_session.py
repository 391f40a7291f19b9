"""The conversation with one adapter process, message by message, and what breaks its rules."""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.drivers import adapter_protocol as protocol
from flowproof_runner.drivers.adapter import Adapter, AdapterRun
from flowproof_runner.drivers.adapter_backend import Answering
from flowproof_runner.drivers.adapter_pipe import AdapterPipe, AdapterTimeout
from flowproof_runner.drivers.adapter_protocol import Confirmation, Final, Hello, Message, ProtocolViolation, ToolCall
from flowproof_runner.drivers.adapter_recorder import Recorder
from flowproof_runner.drivers.backend import BackendContext, BackendError
from flowproof_runner.drivers.base import DriverError
from flowproof_runner.drivers.command import MARK
from flowproof_runner.drivers.spawn import Launch
from flowproof_runner.evidence.model import ADAPTER, Concluded, Confirmed, Decided, Denied, Evidence


def run(adapter: Adapter) -> AdapterRun:
    """Start the backend and the adapter, answer until the end; nothing of either is left running."""
    recorder = Recorder(time.monotonic())
    answering = Answering(adapter.backend, recorder)
    session = _Session(adapter, recorder, answering)
    problem: str | None = None
    timed_out = False
    try:
        answering.start(adapter.context or BackendContext(adapter.scenario, timeout_s=adapter.timeout_s))
        session.converse()
    except (ProtocolViolation, BackendError, DriverError) as error:
        problem, timed_out = str(error), isinstance(error, AdapterTimeout)
    except _Refused:
        pass
    finally:
        elapsed_ms = recorder.now()
        cleanup = answering.close()
    problem = problem or cleanup
    complete = problem is None and not session.refused
    return AdapterRun(
        Evidence(tuple(recorder.events), frozenset({ADAPTER}), duration_ms=elapsed_ms, complete=complete),
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
class _Session:
    """One adapter process, from `run_start` to its end."""

    adapter: Adapter
    recorder: Recorder
    answering: Answering
    understands: frozenset[str] = frozenset()
    refused: bool = False
    """A refusal has ended it."""
    exit_code: int | None = None
    stderr: str = ""
    survivors: int = 0
    _seen: set[str] = field(default_factory=set)
    _first: bool = True

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
                self.stderr = pipe.stderr
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
        result = self.answering.dispatch(call)
        if pipe.pending():
            raise ProtocolViolation(f"the adapter went on before it had the result of {call.tool} (callId {call.id!r})")
        pipe.send(protocol.tool_result(call, result))

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


def _what(message: Message) -> str:
    return type(message).__name__.lower()


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
