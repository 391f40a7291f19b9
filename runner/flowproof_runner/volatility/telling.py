"""What running again showed, as a part of the flow's result and in words. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from flowproof_runner.doctor.varied import Variation
from flowproof_runner.findings import Exit
from flowproof_runner.result import Again, Difference, FindingResult, FlowResult, ParallelOrder
from flowproof_runner.volatility.twice import Second

UNSTEADY = "record.twice"
_SHOWN = 3


def with_second(flow: FlowResult, second: Second, written: bool) -> FlowResult:
    """The recorded flow's result; it fails unless its recording replays, now that the pins may be in the spec."""
    told = _again(second, written)
    if second.steady or (written and second.result.verdict == "pass"):
        return flow.model_copy(update={"again": told, "notes": (*flow.notes, *_notes(told))})
    found = FindingResult(
        id=UNSTEADY,
        message="replayed at once, the recording is not the same",
        where=flow.spec,
        detail="\n".join(lines(told)),
    )
    agent = second.result.agent if second.result.verdict != "pass" else None  # that of the recording did well
    failed = {"verdict": "fail", "exit_code": int(Exit.FAILED), "findings": (*flow.findings, found), "agent": agent}
    return flow.model_copy(update={**failed, "again": told})


def lines(again: Again) -> Iterator[str]:
    """Everything there is to say."""
    for one in again.differences:
        yield f"{one.where} ({one.kind}): {one.first!r} / {one.second!r}"
    if again.pins:
        yield "pins, written into the spec:" if again.written else "pins to put into the spec (or use --write):"
        yield from again.pins
    if again.left:
        yield "and with these pins it still fails:" if again.pins else "and no pin would mend it:"
        yield from (f"  {message}" for message in again.left)


def headline(flow: FlowResult) -> str:
    """One line: `a.flow.yaml: the same twice, also with parallel tools in the other order`."""
    assert flow.again is not None
    tried = {"the same": ", also with parallel tools in the other order", "matters": "; the order of its tools matters"}
    told = "the same twice" if flow.again.steady else "not the same twice"
    return f"{flow.spec}: {told}{tried.get(flow.again.order, '')}"


def _again(second: Second, written: bool) -> Again:
    failed = second.result.verdict != "pass"
    differences = (*second.variations, *second.order)
    return Again(
        steady=second.steady,
        order=_order(second),
        differences=tuple(_difference(one) for one in differences),
        pins=("pins:", *(line for pin in second.pins for line in pin)) if second.pins else (),
        written=written,
        left=tuple(found.message for found in second.result.findings[:_SHOWN]) if failed else (),
    )


def _order(second: Second) -> ParallelOrder:
    if second.result.verdict != "pass":
        return "not tried"
    if not second.parallel:
        return "no parallel calls"
    lists = any(one.kind == "another order" for one in second.variations)
    return "matters" if second.order or lists else "the same"


def _difference(one: Variation) -> Difference:
    turn = f"turn {one.turn}" if one.turn else "side call"
    return Difference(where=f"{turn}: {one.path}", kind=one.kind, first=one.first, second=one.second)


def _notes(again: Again) -> Iterator[str]:
    if again.order == "matters" and again.differences:
        last = again.differences[-1]
        yield (
            f"with parallel tools in the other order {last.where} differs ({last.kind}): if the agent runs them at the"
            " same time, let it tell their results in the order of the calls"
        )
