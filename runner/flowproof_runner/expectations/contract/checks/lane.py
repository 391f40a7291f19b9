"""What a run may use, and what an MCP server's lane must keep to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flowproof_runner.evidence.model import ADAPTER, MODEL, Discovered, Returned
from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import Budget, Lane
from flowproof_runner.expectations.contract.ruling import Place, Ruling, found
from flowproof_runner.findings import Finding
from flowproof_runner.surface.canonical import drifted, same_capabilities
from flowproof_runner.surface.drift import capability_drift, tool_drift


def judge_budget(expectation: Budget, place: Place) -> Ruling:
    """Each bound; one that cannot be measured is a finding, never a pass."""
    view = place.view
    measured: list[tuple[str, float | None, float | None]] = [
        ("turns", expectation.turns, view.turns),
        ("tokens", expectation.tokens, view.tokens),
        ("duration", expectation.duration_ms, view.duration_ms),
    ]
    findings: list[Finding] = []
    for name, bound, used in measured:
        if bound is None:
            continue
        if used is None:
            if place.complete:
                findings.append(
                    found(expectation, f"budget.{name}_unavailable", f"{name} was not measured in this run")
                )
        elif used > bound:
            id = "performance.duration" if name == "duration" else f"budget.{name}"
            unit = " ms" if name == "duration" else ""
            message = f"{name}: {used:g}{unit} used, {bound:g}{unit} allowed"
            findings.append(found(expectation, id, message, expected=bound, actual=used))
    return Ruling(tuple(findings), 1)


def judge_lane(expectation: Lane, place: Place) -> Ruling:
    """Latency, size and errors of each answer; the catalogue against its snapshot."""
    answers = [
        event
        for event in place.view.evidence.of(Returned)
        if event.lane not in (MODEL, ADAPTER) and expectation.server in ("", event.lane) and not event.mocked
    ]
    findings = [finding for event in answers for finding in _answer(expectation, event)]
    findings += _slow(expectation, place, answers)
    exercised = len(answers)
    if expectation.tools is not None or expectation.capabilities is not None:
        drift = list(_drift(expectation, place))
        findings += drift
        exercised += 1
    return Ruling(tuple(findings), exercised)


def _answer(expectation: Lane, event: Returned) -> Iterator[Finding]:
    if expectation.errors and event.is_error:
        yield found(expectation, "mcp.tool_error", f"{event.tool} answered with an error", seq=event.seq)
    size = event.size_bytes
    if expectation.result_bytes is not None and size is not None and size > expectation.result_bytes:
        message = f"{event.tool} answered {size} bytes, {expectation.result_bytes} allowed"
        yield found(
            expectation, "mcp.response_size", message, seq=event.seq, expected=expectation.result_bytes, actual=size
        )


def _slow(expectation: Lane, place: Place, answers: Sequence[Returned]) -> Iterator[Finding]:
    """Each answer by itself; with a share, all of them together, which only a finished run can tell."""
    bound, share = expectation.call_ms, expectation.share
    if bound is None:
        return
    timed = [(event.duration_ms, event) for event in answers if event.duration_ms is not None]
    late = [(took, event) for took, event in timed if took > bound]
    if share is None:
        for took, event in late:
            message = f"{event.tool} took {took:.0f} ms, {bound:g} allowed"
            yield found(expectation, "mcp.tool_duration", message, seq=event.seq, expected=bound, actual=took)
    elif place.complete and 100 * (len(timed) - len(late)) < share * len(timed):
        took, slowest = max(late, key=lambda each: each[0])
        message = f"{len(late)} of {len(timed)} answers took longer than {bound:g} ms, {share:g}% must keep it"
        detail = f"slowest: {slowest.tool}, {took:.0f} ms"
        yield found(
            expectation, "mcp.tool_duration", message, detail=detail, seq=slowest.seq, expected=bound, actual=took
        )


def _drift(expectation: Lane, place: Place) -> Iterator[Finding]:
    seen = [e for e in place.view.evidence.of(Discovered) if expectation.server in ("", e.lane)]
    if not seen:
        if place.complete:
            yield found(
                expectation, "mcp.discovery_missing", f"no catalogue of {expectation.server or 'a server'} was seen"
            )
        return
    for event in seen:
        told = expectation.capabilities
        if event.modern and expectation.discovered is not None:
            told = expectation.discovered
        if told is not None and not same_capabilities(told, event.capabilities):
            message = f"the capabilities of {event.lane} differ from the snapshot"
            detail = "\n".join((line(expectation), *map(str, capability_drift(told, event.capabilities))))
            yield found(
                expectation,
                "mcp.capability_drift",
                message,
                expected=told,
                actual=event.capabilities,
                seq=event.seq,
                detail=detail,
            )
        if expectation.tools is None:
            continue
        names = drifted(expectation.tools, list(event.tools))
        if names:
            message = f"tools of {event.lane} differ from the snapshot: {', '.join(names)}"
            known = expectation.tools if isinstance(expectation.tools, list) else []
            detail = "\n".join((line(expectation), *map(str, tool_drift(known, event.tools))))
            yield found(expectation, "mcp.schema_drift", message, actual=list(names), seq=event.seq, detail=detail)
