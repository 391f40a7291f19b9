"""The small words all reports share."""

from __future__ import annotations

import shlex

from flowproof_runner.result import AgentEnd, Counts, FaultUse, FlowResult, SharedCause

_STOPPED = {
    "timed out": "was ended at its timeout",
    "stopped after divergence": "was stopped after leaving the recording",
    "printed too much": "was ended for printing too much",
    "interrupted": "was interrupted",
}


def number(count: int, noun: str) -> str:
    """`1 turn`, `3 turns`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def seconds(duration_s: float) -> str:
    """`0.8 s`."""
    return f"{duration_s:.1f} s"


def turns(counts: Counts) -> str:
    """`3 turns`, or `2 of 3 turns` where the cassette holds more."""
    if counts.recorded_turns is None or counts.recorded_turns == counts.turns:
        return number(counts.turns, "turn")
    return f"{counts.turns} of {number(counts.recorded_turns, 'turn')}"


def end(agent: AgentEnd) -> str:
    """How the agent ended, as the second half of a sentence."""
    after = f"after {seconds(agent.duration_s)}"
    if agent.ending != "exited":
        return f"{_STOPPED.get(agent.ending, agent.ending)}, {after}"
    if agent.signal is not None:
        return f"ended by signal {agent.signal} {after}"
    if agent.exit_code is not None:
        return f"exited with code {agent.exit_code} {after}"
    return f"answered {after}"


def title(flow: FlowResult) -> str:
    """`specs/booking.flow.yaml · Books a flight`."""
    title = f"{flow.spec} · {flow.name}" if flow.name else flow.spec
    return " ".join(title.splitlines())  # one flow is one line, whatever its name or its file's


def tokens(counts: Counts) -> str | None:
    """`1,204 in / 88 out`; None where no provider said."""
    parts = ((counts.input_tokens, "in"), (counts.output_tokens, "out"))
    return " / ".join(f"{count:,} {way}" for count, way in parts if count is not None) or None


def retried(attempts: int) -> str | None:
    """`retried once`; None for none."""
    if not attempts:
        return None
    return "retried once" if attempts == 1 else f"retried {attempts} times"


def accept(cause: SharedCause) -> str | None:
    """How a drift of several flows is accepted in one go, if it was meant; None for what no recording mends."""
    if not cause.id.endswith(".divergence"):
        return None
    return f"If the change is meant, accept it in all: flowproof heal --apply {shlex.join(cause.specs)}"


def fault(use: FaultUse) -> str:
    """`turn 2: answer 429: once`, with what became of it."""
    often = {0: "never", 1: "once"}.get(use.count, f"{use.count} times")
    return f"{use.name}: {often}" + (f" ({'; '.join(dict.fromkeys(use.remarks))})" if use.remarks else "")
