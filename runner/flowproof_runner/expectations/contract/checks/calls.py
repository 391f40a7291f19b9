"""How often tools are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from flowproof_runner.expectations.contract.call import Call
from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.language.printing import show_term
from flowproof_runner.expectations.contract.model import Calls
from flowproof_runner.expectations.contract.resolution.bag import Found
from flowproof_runner.expectations.contract.resolution.narrowing import lookup
from flowproof_runner.expectations.contract.ruling import Place, Ruling, found, unread
from flowproof_runner.expectations.contract.terms import AllOf, Results
from flowproof_runner.expectations.contract.values import is_number, key
from flowproof_runner.expectations.contract.walk import nodes
from flowproof_runner.findings import Finding


def judge(expectation: Calls, place: Place) -> Ruling:
    """Floors hold only of a finished run; ceilings and bans of any part of one."""
    if expectation.when is not None:
        condition = place.condition(expectation.when)
        if condition.unread:
            return _undecided(expectation, place, unread(condition.unread))
        if not place.settled(expectation.when):
            return Ruling()
        if not condition.holds:
            return _unasked(expectation, place)
    return Ruling(tuple(_doubts(expectation, place))) + _counted(expectation, place, selected(expectation, place))


def _counted(expectation: Calls, place: Place, calls: list[Call]) -> Ruling:
    if expectation.kind == "forbidden":
        return Ruling(tuple(_banned(expectation, call) for call in calls), len(place.view.requested))
    if expectation.as_many_as is not None:
        return _as_many(expectation, place, calls)
    return Ruling(tuple(_bounds(expectation, place, calls)), len(calls) if expectation.at_least is None else 1)


def selected(expectation: Calls, place: Place) -> list[Call]:
    """The calls an expectation counts."""
    calls = _candidates(expectation, place)
    such = expectation.such
    if such is not None:
        calls = [call for call in calls if place.truth(such, replace(place.env, call=call)).holds]
    return sorted(calls, key=lambda call: call.seq)


def _doubts(expectation: Calls, place: Place) -> Iterator[Finding]:
    """Calls that a ban or a ceiling may be about, or not: what nobody has answered is never false."""
    such = expectation.such
    floor_only = expectation.kind != "forbidden" and expectation.at_most is None and expectation.as_many_as is None
    if floor_only or not place.complete or such is None or not any(isinstance(node, Results) for node in nodes(such)):
        return
    parts = such.parts if isinstance(such, AllOf) else (such,)
    for call in _named(expectation, place):
        truths = [place.truth(part, replace(place.env, call=call)) for part in parts]
        failed = [tuple(gap for gap in truth.gaps if gap.kind == "unanswered") for truth in truths if not truth.holds]
        gaps = tuple(gap for unanswered in failed for gap in unanswered)
        if gaps and all(failed):
            message = f"cannot tell whether this {call.tool} is meant, {unread(gaps)}: {line(expectation)}"
            yield found(expectation, "tool.condition_unresolved", message, seq=call.seq, actual=call.arguments)


def _named(expectation: Calls, place: Place) -> Iterable[Call]:
    """Every call of the tools it names, of all tools if it names none."""
    view, requested = place.view, expectation.at == "request"
    if not expectation.tools:
        return view.requested if requested else view.calls
    by_tool = view.requested_by_tool if requested else view.by_tool
    return {call.seq: call for tool in expectation.tools for call in by_tool.get(tool, ())}.values()


def _candidates(expectation: Calls, place: Place) -> Iterable[Call]:
    """The same, looked up where an argument is tied to values: all others cannot be meant."""
    narrowed = lookup(expectation.such, "call", lambda right: place.resolver.find(right, place.env))
    if not expectation.tools or narrowed is None:
        return _named(expectation, place)
    path, values = narrowed
    calls: dict[int, Call] = {}
    for tool in expectation.tools:
        index = place.view.calls_by_argument(tool, path, expectation.at == "request")
        calls |= {call.seq: call for value in values for call in index.get(key(value), ())}
    return calls.values()


def _banned(expectation: Calls, call: Call) -> Finding:
    carried_out = call.counted
    return found(
        expectation,
        "tool.forbidden" if carried_out else "tool.forbidden_requested",
        f"{call.tool} must never be {'called' if carried_out else 'asked for'}: {line(expectation)}",
        severity="critical" if carried_out else "error",
        seq=call.seq,
        actual=call.arguments,
    )


def _undecided(expectation: Calls, place: Place, why: str) -> Ruling:
    if not place.complete:
        return Ruling()
    message = f"cannot tell whether this applies, {why}: {line(expectation)}"
    return Ruling((found(expectation, "tool.condition_unresolved", message),), 1)


def _unasked(expectation: Calls, place: Place) -> Ruling:
    """The condition is false: nothing is demanded, or with `only_when` no call is allowed."""
    if not expectation.only_when:
        return Ruling()
    if not place.complete:
        return Ruling((), 1)
    calls = selected(expectation, place)
    findings = tuple(
        found(
            expectation,
            "tool.forbidden_when",
            f"{call.tool} was called though its condition does not hold: {line(expectation)}",
            seq=call.seq,
            actual=call.arguments,
        )
        for call in calls
    )
    return Ruling(findings, 1)


def _as_many(expectation: Calls, place: Place, calls: list[Call]) -> Ruling:
    assert expectation.as_many_as is not None
    if not place.complete:
        return Ruling()
    term = place.resolver.find(expectation.as_many_as, place.env)
    wanted = _count(term)
    if wanted is None:
        why = unread(term.gaps) or f"{show_term(expectation.as_many_as)} is neither a list nor a whole number"
        return Ruling((found(expectation, "tool.calls_outcome_unresolved", f"{why}: {line(expectation)}"),), 1)
    if len(calls) == wanted:
        return Ruling((), 1)
    message = f"expected {wanted} calls, found {len(calls)}: {line(expectation)}"
    return Ruling(
        (
            found(
                expectation,
                "tool.calls_outcome_mismatch",
                message,
                expected=wanted,
                actual=len(calls),
                seq=_last(calls),
            ),
        ),
        1,
    )


def _count(term: Found) -> int | None:
    if not term.bags:
        return None
    elements = term.bags[-1].elements()
    if elements is not None:
        return len(elements)
    value = term.bags[-1].values[0]
    return int(value) if is_number(value) and isinstance(value, int | float) and value == int(value) else None


def _bounds(expectation: Calls, place: Place, calls: list[Call]) -> Iterable[Finding]:
    floor, ceiling = expectation.at_least, expectation.at_most
    if floor is not None and len(calls) < floor and place.complete:
        message = f"expected at least {floor}, found {len(calls)}: {line(expectation)}"
        yield found(expectation, _too_few(expectation), message, expected=floor, actual=len(calls))
    if ceiling is not None and len(calls) > ceiling:
        message = f"expected at most {ceiling}, found {len(calls)}: {line(expectation)}"
        seq = calls[ceiling].seq
        yield found(expectation, _too_many(expectation), message, expected=ceiling, actual=len(calls), seq=seq)


def _too_few(expectation: Calls) -> str:
    if expectation.kind == "required":
        return "tool.required" if expectation.when is None else "tool.required_when"
    return "tool.min_calls_per_tool" if expectation.tools else "tool.min_calls"


def _too_many(expectation: Calls) -> str:
    return "tool.max_calls_per_tool" if expectation.tools else "tool.max_calls"


def _last(calls: list[Call]) -> int | None:
    return calls[-1].seq if calls else None
