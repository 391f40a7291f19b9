"""An adapter's backend at work: what it answers is evidence, and whatever it raises ends the run with a reason."""

from __future__ import annotations

import copy
import json
import time
from dataclasses import dataclass

from flowproof_addons.trace.model import JsonValue
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
            offered = _kept([discovery.capabilities, *discovery.tools], "what a server offers")
            self.recorder.add(Discovered, lane=discovery.server, capabilities=offered[0], tools=tuple(offered[1:]))

    def dispatch(self, call: ToolCall) -> JsonValue:
        """Have an authorized call answered; what the adapter is told. Raises BackendError."""
        self.recorder.add(Dispatched, call=call.id, tool=call.tool, arguments=call.arguments)
        started = time.monotonic()
        try:
            answer = self.backend.call(call.tool, copy.deepcopy(call.arguments))
        except BackendError:
            raise
        except Exception as error:  # user code
            raise BackendError(f"the backend failed at {call.tool}: {error}") from error
        told, shown = _kept([answer.result, _shown(answer)], f"the answer to {call.tool}")
        took = (time.monotonic() - started) * 1000 if answer.duration_ms is None else answer.duration_ms
        self.recorder.add(
            Returned,
            lane=answer.server or ADAPTER,
            call=call.id,
            tool=call.tool,
            result=shown,
            is_error=answer.is_error,
            mocked=answer.source == "fixture",
            duration_ms=took,
            size_bytes=answer.size_bytes,
            fixture_miss=answer.fixture_miss,
        )
        return told

    def close(self) -> str | None:
        """Close it; what goes wrong there, else None."""
        try:
            self.backend.close()
        except Exception as error:  # user code
            return f"the backend could not be closed: {error}"
        return None


def _shown(answer: Answer) -> JsonValue:
    return answer.result if answer.evidence_result is UNSET else answer.evidence_result


def _kept(values: list[JsonValue], what: str) -> list[JsonValue]:
    """Copies, for what a backend changes later was not so when it was said. Raises BackendError if it is no JSON."""
    try:
        copies: list[JsonValue] = json.loads(json.dumps(values, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise BackendError(f"the backend gave no JSON for {what}: {error}") from error
    return copies
