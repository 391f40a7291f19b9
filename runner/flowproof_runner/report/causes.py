"""What made several flows of one run fail, told once: an edited prompt breaks every flow that sends it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from flowproof_runner.result import FindingResult, FlowResult, SharedCause


def shared(flows: Iterable[FlowResult]) -> tuple[SharedCause, ...]:
    """The causes that more than one flow has, in the order in which they first appear."""
    firsts: dict[Hashable, FindingResult] = {}
    places: dict[Hashable, list[str]] = {}
    for flow in flows:
        for key, found in {identity(found): found for found in roots(flow)}.items():
            firsts.setdefault(key, found)
            places.setdefault(key, []).append(flow.spec)
    return tuple(
        SharedCause(id=firsts[key].id, message=firsts[key].message, detail=firsts[key].detail, specs=tuple(specs))
        for key, specs in places.items()
        if len(specs) > 1
    )


def roots(flow: FlowResult) -> list[FindingResult]:
    """The findings that follow from no other."""
    return [found for found in flow.findings if found.caused_by is None]


def identity(found: FindingResult) -> Hashable:
    """Equal for findings with one cause, whatever the flow or turn they were found in."""
    if found.cause:
        return found.id, found.cause
    if found.path or found.expected is not None or found.actual is not None:
        return found.id, found.path, repr((found.expected, found.actual))
    return found.id, found.message
