"""What is wrong with a run before any assertion is judged: how the agent ended, what crossed and what did not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from flowproof_addons.trace.model import Exchange, JsonValue, Phase
from flowproof_runner.drivers.base import DriverResult
from flowproof_runner.findings import Finding, Severity
from flowproof_runner.habitat.clock import Clockwork

DIVERGENCE = "model.divergence"
NO_REQUEST = "model.no-request"
TIMEOUT = "agent.timeout"
SIGNAL = "agent.signal"
OUTPUT = "agent.output"
EXHAUSTED = "tool.results.exhausted"
UNSETTLED = "conversation.unsettled"
STALLED = "conversation.stalled"
ENDED_EARLY = "conversation.ended-early"
UNANSWERED = "conversation.no-request"

CUT_SHORT = (
    DIVERGENCE,
    "mcp.divergence",
    NO_REQUEST,
    TIMEOUT,
    SIGNAL,
    OUTPUT,
    "boundary.problem",
    EXHAUSTED,
    STALLED,
    ENDED_EARLY,
)
"""Findings after which a run is not whole: nothing may be concluded from what is missing in it."""

_HANDLES = (
    "point the agent's client at the boundary: OPENAI_BASE_URL, ANTHROPIC_BASE_URL and the like are set for it;"
    " a client that reads none of them takes ${flowproof.proxy_url} (or ${flowproof.proxy_url_no_v1}) in"
    " agent.command or agent.env"
)
_SHOWN = 5


def of_agent(
    result: DriverResult, expected: frozenset[int] | None, timeout_s: float, where: str, cause: str | None
) -> Iterator[Finding]:
    """How the agent ended, where that is not as the spec expects. `expected` None: any exit code will do."""
    if result.ending == "timed out":
        yield Finding(
            id=TIMEOUT,
            message=f"the agent was still running after {timeout_s:g} s and was ended",
            detail="raise agent.timeout if it needs longer",
            where=where,
            caused_by=cause,
        )
    elif result.ending == "printed too much":
        yield Finding(id=OUTPUT, message="the agent printed more than 256 MiB and was ended", where=where)
    elif result.signal is not None:
        yield Finding(id=SIGNAL, message=f"the agent was ended by signal {result.signal}", where=where, caused_by=cause)
    elif result.exit_code is not None and expected is not None and result.exit_code not in expected:
        yield Finding(
            id="agent.exit",
            message=f"the agent exited with code {result.exit_code}; expected {_codes(expected)}",
            detail="" if cause else "if that is right, say so in agent.expect_exit",
            where=where,
            expected=sorted(expected)[0] if len(expected) == 1 else list[JsonValue](sorted(expected)),
            actual=result.exit_code,
            caused_by=cause,
        )
    elif result.ending == "interrupted":
        yield Finding(id="agent.interrupted", message="the run was interrupted", kind="problem", where=where)


def of_clock(clock: Clockwork | None, where: str) -> Iterator[Finding]:
    """A clock that no process of the agent went by."""
    if clock is not None and not clock.honoured:
        yield Finding(
            id="agent.clock",
            message="agent.clock was honoured by no process of the agent: it saw the real time",
            detail="it works for Python (not with -I, -E or -S) and Node (not in a program compiled into one file);"
            " for others try clock: { at: ..., libfaketime: true }, or pin the date: pins: [{ kind: date, ... }]",
            where=where,
        )


def of_problems(problems: Iterable[str], where: str) -> Iterator[Finding]:
    """Failures of the machine or of flowproof itself: nothing may be concluded from such a run."""
    for problem in problems:
        yield Finding(id="boundary.problem", kind="problem", message=problem, where=where)


def of_divergences(reports: Iterable[Mapping[str, JsonValue]], where: str) -> Iterator[Finding]:
    """Requests that no recording answers."""
    for report in reports:
        user_turn = report.get("user_turn")
        yield Finding(
            id=DIVERGENCE,
            message=str(report["message"]),
            detail=str(report.get("detail") or ""),
            path=str(report.get("path") or ""),
            expected=report.get("recorded"),
            actual=report.get("received"),
            where=where,
            cause=str(report.get("cause") or ""),
            user_turn=user_turn if isinstance(user_turn, int) else None,
        )


def of_entries(entries: Iterable[Mapping[str, JsonValue]], where: str) -> Iterator[Finding]:
    """Findings that the boundary made itself, `{id, message, detail?, kind?, severity?, caused_by?}`."""
    for entry in entries:
        caused_by = entry.get("caused_by")
        yield Finding(
            id=str(entry["id"]),
            message=str(entry["message"]),
            detail=str(entry.get("detail") or ""),
            severity=_severity(entry.get("severity")),
            kind="problem" if entry.get("kind") == "problem" else "check",
            where=where,
            caused_by=str(caused_by) if caused_by else None,
        )


def no_request(phase: Phase, recorded: int, where: str, cause: str | None) -> Finding:
    """Not one model request arrived: nothing was tested, whatever the agent printed.

    At record the machine is not set up; at replay the agent no longer does what it did.
    """
    if phase == "record":
        message = "no model request arrived at the boundary: nothing is recorded"
    else:
        message = f"no model request arrived at the boundary; {recorded} were recorded"
    return Finding(
        id=NO_REQUEST,
        kind="problem" if phase == "record" else "check",
        message=message,
        detail="the agent ended before its first request: its output tells why" if cause else _HANDLES,
        where=where,
        expected=recorded or None,
        actual=0,
        caused_by=cause,
    )


def unserved(indexes: Sequence[int], recorded: Sequence[Exchange], where: str, cause: str | None) -> Iterator[Finding]:
    """Recorded turns the agent did not ask for."""
    turns = [index for index in indexes if recorded[index].is_turn]
    if not turns:
        return
    numbers = {index: number for number, index in enumerate((i for i, e in enumerate(recorded) if e.is_turn), start=1)}
    shown = ", ".join(f"{numbers[index]}{_part(recorded[index])}" for index in turns[:_SHOWN])
    shown += ", …" if len(turns) > _SHOWN else ""
    were = "was" if len(turns) == 1 else "were"
    yield Finding(
        id="model.unserved",
        message=f"{len(turns)} of {len(numbers)} recorded turns {were} not asked for: {shown}",
        detail="" if cause else "the agent ended earlier than when it was recorded; record again if that is meant",
        where=where,
        expected=len(numbers),
        actual=len(numbers) - len(turns),
        caused_by=cause,
    )


def _part(exchange: Exchange) -> str:
    return f" (of user turn {exchange.user_turn})" if exchange.user_turn else ""


def unserved_notes(indexes: Sequence[int], recorded: Sequence[Exchange]) -> Iterator[str]:
    """Side calls the agent did not make again: clients cache them, so they are told and not judged."""
    for index in indexes:
        if not recorded[index].is_turn:
            request = recorded[index].request
            yield f"recorded side call {request.method} {request.path} was not made"


def _codes(expected: frozenset[int]) -> str:
    return " or ".join(map(str, sorted(expected)))


def _severity(value: JsonValue) -> Severity:
    return "critical" if value == "critical" else "error"
