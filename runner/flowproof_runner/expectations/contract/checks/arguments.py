"""What the calls of a tool carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from flowproof_runner.expectations.contract.call import Call
from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import Arguments
from flowproof_runner.expectations.contract.resolution.bag import Truth
from flowproof_runner.expectations.contract.resolution.nearest import nearest, shown
from flowproof_runner.expectations.contract.ruling import Place, Ruling, compared, found, unread
from flowproof_runner.expectations.contract.schema import Schemas
from flowproof_runner.expectations.contract.values import Key, key
from flowproof_runner.expectations.contract.view import at
from flowproof_runner.findings import Finding


def judge(expectation: Arguments, place: Place, schemas: Schemas) -> Ruling:
    """Every call of the tool, or the one that `call` names."""
    calls: Sequence[Call] = place.view.by_tool.get(expectation.tool, ())
    if expectation.call is not None:
        if expectation.call >= len(calls):
            return _no_such_call(expectation, place, len(calls))
        calls = calls[expectation.call : expectation.call + 1]
    findings: list[Finding] = []
    judged = 0
    for call in calls:
        at_call = replace(place, env=replace(place.env, call=call))
        if expectation.when is not None:
            condition = at_call.condition(expectation.when)
            if place.open(condition):
                continue
            if condition.unread:
                message = f"cannot tell whether this applies, {unread(condition.unread)}: {line(expectation)}"
                findings.append(found(expectation, "tool.condition_unresolved", message, seq=call.seq))
            if condition.unread or not condition.holds:
                continue
        judged += 1
        findings += _judged(expectation, at_call, call, schemas)
    findings += _repeated(expectation, calls)
    return Ruling(tuple(findings), judged)


def _no_such_call(expectation: Arguments, place: Place, seen: int) -> Ruling:
    if not place.complete:
        return Ruling()
    message = f"{expectation.tool} was called {seen} times: {line(expectation)}"
    return Ruling((found(expectation, "tool.arguments_call_missing", message, actual=seen),), 1)


def _judged(expectation: Arguments, place: Place, call: Call, schemas: Schemas) -> Iterator[Finding]:
    if not isinstance(call.arguments, dict):
        message = f"the arguments of {call.tool} are not a JSON object: {line(expectation)}"
        yield found(expectation, "tool.arguments_unreadable", message, seq=call.seq, actual=call.arguments)
        return
    if expectation.such is not None:
        truth = place.truth(expectation.such)
        if not truth.holds and not place.open(truth):
            yield from _violations(expectation, place, call, truth)
    if expectation.schema is not None:
        violation = schemas.violation(expectation.schema, call.arguments)
        if violation is not None:
            path, words = violation
            message = f"{call.tool} {path or 'arguments'}: {words}"
            yield found(expectation, "tool.arguments_schema", message, seq=call.seq, path=path, actual=call.arguments)


def _violations(expectation: Arguments, place: Place, call: Call, truth: Truth) -> Iterator[Finding]:
    """A value that is wrong, a result that was never seen, and a result that forbids the call are three findings."""
    if truth.misses:
        miss = truth.misses[0]
        yield found(
            expectation,
            "tool.arguments_subset",
            f"{call.tool} {miss.path or 'arguments'} is wrong: {line(expectation)}",
            seq=call.seq,
            **compared(truth),
        )
    elif truth.gaps:
        near = nearest(expectation.such, place.resolver, place.env)
        rejected = any(gap.kind == "filtered" for gap in truth.gaps)
        yield found(
            expectation,
            "tool.arguments_reference_rejected" if rejected else "tool.arguments_reference_unresolved",
            f"{call.tool} {'is not allowed with these arguments' if rejected else 'cannot be judged'},"
            f" {unread(truth.gaps)}: {line(expectation)}",
            nearest=near,
            detail=shown(near) if near is not None else "",
            seq=call.seq,
            actual=call.arguments,
        )


def _repeated(expectation: Arguments, calls: Sequence[Call]) -> Iterator[Finding]:
    """Values are never printed here: what must be distinct is often a secret."""
    for path in expectation.distinct:
        seen: dict[Key, int] = {}
        name = ".".join(path)
        for call in calls:
            values = at(call.arguments, path)
            if not values:
                message = f"{call.tool} has no {name}, which must be distinct: {line(expectation)}"
                yield found(expectation, "tool.arguments_distinct_missing", message, seq=call.seq, path=name)
                continue
            first = seen.setdefault(key(values[0]), call.seq)
            if first != call.seq:
                message = f"{call.tool} repeats the {name} of the call at evidence {first}: {line(expectation)}"
                yield found(expectation, "tool.arguments_not_distinct", message, seq=call.seq, path=name)
