"""A spec's `faults:` as the values the boundary takes, as a cassette keeps them, and as they turned out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from flowproof_addons.session import McpFault, ModelFault
from flowproof_addons.trace.model import JsonValue
from flowproof_runner.boundary.outcome import Outcome
from flowproof_runner.findings import Finding
from flowproof_runner.result import FaultUse
from flowproof_runner.spec.faults import FaultEntry
from flowproof_runner.spec.file import LoadedSpec
from flowproof_runner.spec.model import Spec

RECORDED = "faults"
"""In a trace: the faults its run was under."""

_FOLLOWS = ("agent.exit", "agent.signal", "agent.timeout", "model.unserved", "model.divergence", "mcp.divergence")
"""Findings that how an agent takes a fault may explain."""


def of_model(spec: Spec) -> tuple[ModelFault, ...]:
    """The failures at model turns."""
    return tuple(
        ModelFault(
            label=entry.label,
            turn=entry.turn,
            times=entry.times,
            kind=_model_kind(entry),
            status=entry.answer or 0,
            retry_after_s=entry.retry_after,
            frames=entry.cut if isinstance(entry.cut, int) else None,
            seconds=entry.timeout or entry.slow or 0.0,
        )
        for entry in spec.faults
        if entry.turn is not None
    )


def of_mcp(spec: Spec) -> tuple[McpFault, ...]:
    """The failures of MCP servers."""
    return tuple(
        McpFault(
            label=entry.label,
            server=entry.mcp,
            tool=entry.call or "",
            nth=entry.nth,
            times=entry.times,
            kind=_mcp_kind(entry),
            message=entry.error or entry.rpc_error or "",
            code=entry.code,
            seconds=entry.timeout or entry.slow or 0.0,
        )
        for entry in spec.faults
        if entry.mcp is not None
    )


def kept(spec: Spec) -> list[JsonValue]:
    """The faults as a cassette keeps them: what followed them in the recording belongs to them."""
    both: list[ModelFault | McpFault] = [*of_model(spec), *of_mcp(spec)]
    return [fault.model_dump(mode="json", exclude_defaults=True) for fault in both]


def uses(spec: LoadedSpec, outcome: Outcome) -> tuple[FaultUse, ...]:
    """How often each fault happened, in the order of the spec."""
    told = {str(each["label"]): each for each in outcome.faults}
    return tuple(_use(spec, number, told.get(entry.label, {})) for number, entry in enumerate(spec.spec.faults))


def findings(uses: tuple[FaultUse, ...]) -> Iterator[Finding]:
    """Faults that did not happen as often as the spec has them: nothing was learned of the agent."""
    for use in uses:
        if use.count >= use.times:
            continue
        often = "never happened" if not use.count else f"happened {use.count} of {use.times} times"
        why = "; ".join(dict.fromkeys(use.remarks)) or "the run had no such turn or call, or not so often"
        yield Finding(
            id="fault.unfired",
            message=f"the fault {use.name!r} {often}",
            detail=f"{why}: correct it, or remove it",
            where=use.where,
            expected=use.times,
            actual=use.count,
        )


def explained(found: Finding, uses: tuple[FaultUse, ...]) -> Finding:
    """A finding that the agent's way with a fault may explain, with the faults named."""
    fired = [use.name for use in uses if use.count]
    if not fired or found.id not in _FOLLOWS:
        return found
    said = f"this run was under faults: {'; '.join(fired)}"
    if found.id.endswith("divergence"):
        said += "\nif that is how the agent takes them, record again: what follows a fault is recorded with it"
    return replace(found, detail=f"{found.detail}\n{said}".strip())


def _use(spec: LoadedSpec, number: int, told: object) -> FaultUse:
    entry, found = spec.spec.faults[number], told if isinstance(told, dict) else {}
    return FaultUse(
        name=entry.label,
        count=int(found.get("fired", 0)),
        times=entry.times,
        where=spec.document.where(("faults", number)),
        remarks=tuple(str(remark) for remark in found.get("remarks", ())),
    )


def _model_kind(entry: FaultEntry) -> Literal["answer", "timeout", "reset", "closed", "cut", "malformed", "slow"]:
    if entry.connection is not None:
        return entry.connection
    if entry.answer is not None:
        return "answer"
    if entry.timeout is not None:
        return "timeout"
    if entry.slow is not None:
        return "slow"
    return "malformed" if entry.malformed else "cut"


def _mcp_kind(entry: FaultEntry) -> Literal["error", "rpc_error", "timeout", "dies", "slow"]:
    if entry.error is not None:
        return "error"
    if entry.rpc_error is not None:
        return "rpc_error"
    if entry.timeout is not None:
        return "timeout"
    return "slow" if entry.slow is not None else "dies"
