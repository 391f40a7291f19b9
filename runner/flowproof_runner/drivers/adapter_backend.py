"""An adapter's backend at work: what it answers is evidence, and whatever it raises ends the run with a reason."""

from __future__ import annotations

import time
from dataclasses import dataclass

from flowproof_runner.drivers.adapter_protocol import ToolCall
from flowproof_runner.drivers.adapter_recorder import Recorder
from flowproof_runner.drivers.backend import UNSET, Answer, BackendContext, BackendError, Discovery, ToolBackend
from flowproof_runner.evidence.model import ADAPTER, Discovered, Dispatched, Returned


@dataclass(frozen=True, slots=True)
class Answering:
    """One backend in one run."""

    backend: ToolBackend
    recorder: Recorder

    def start(self, context: BackendContext) -> None:
        """Start it; only what servers say they offer becomes evidence. Raises BackendError."""
        try:
            found = self.backend.start(context)
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

    def dispatch(self, call: ToolCall) -> Answer:
        """Have an authorized call answered. Raises BackendError."""
        self.recorder.add(Dispatched, call=call.id, tool=call.tool, arguments=call.arguments)
        started = time.monotonic()
        try:
            answer = self.backend.call(call.tool, dict(call.arguments))
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

    def close(self) -> str | None:
        """Close it; what goes wrong there, else None."""
        try:
            self.backend.close()
        except Exception as error:  # user code
            return f"the backend could not be closed: {error}"
        return None
