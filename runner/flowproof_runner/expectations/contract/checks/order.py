"""Which call comes before which, and what a call was informed by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from flowproof_runner.expectations.contract.call import Call
from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import Order, Precedence
from flowproof_runner.expectations.contract.ruling import Place, Ruling, found
from flowproof_runner.expectations.contract.values import Key, key
from flowproof_runner.expectations.contract.view import View, at
from flowproof_runner.findings import Finding


def judge_order(expectation: Order, place: Place) -> Ruling:
    """The tools as a subsequence of the calls; siblings of one parallel message have no order among themselves."""
    wanted = list(expectation.tools)
    reached: Call | None = None
    seen = 0
    for call in place.view.calls:
        if not any(tool in call.names for tool in expectation.tools):
            continue
        seen += 1
        if wanted and wanted[0] in call.names and not _siblings(reached, call):
            wanted.pop(0)
            reached = call
    if not wanted or not place.complete:
        return Ruling((), seen)
    done = len(expectation.tools) - len(wanted)
    after = f"after {expectation.tools[done - 1]}" if done else "at all"
    message = f"{wanted[0]} was not called {after}: {line(expectation)}"
    return Ruling((found(expectation, "tool.order", message, seq=reached.seq if reached else None),), max(seen, 1))


def judge_precedence(expectation: Precedence, place: Place) -> Ruling:
    """Every call of `after` has its `before`."""
    afters = place.view.by_tool.get(expectation.after, ())
    befores = place.view.by_tool.get(expectation.before, ())
    if expectation.per:
        return _correlated(expectation, place.view, befores, afters)
    if not afters:
        return Ruling()
    if not befores:
        return Ruling((_missing(expectation, afters[0]),), len(afters))
    if expectation.scope == "informed":
        late = [call for call in afters if not _informed(place.view, befores, call)]
    else:
        edge = befores[0] if expectation.scope == "first" else befores[-1]
        late = [afters[0]] if not _earlier(edge, afters[0]) else []
    return Ruling(tuple(_late(expectation, call, befores[0]) for call in late), len(afters))


def _correlated(expectation: Precedence, view: View, befores: Sequence[Call], afters: Sequence[Call]) -> Ruling:
    by_key: Mapping[tuple[Key, ...], list[Call]] = _grouped(befores, expectation.per)
    findings: list[Finding] = []
    judged = 0
    for call in afters:
        values = _key(call, expectation.per)
        same = by_key.get(values, []) if values is not None else []
        if not same:
            if expectation.required:
                findings.append(_missing(expectation, call))
                judged += 1
            continue
        judged += 1
        if expectation.scope == "informed":
            in_time = _informed(view, same, call)
        else:
            in_time = _earlier(same[0] if expectation.scope == "first" else same[-1], call)
        if not in_time:
            findings.append(_late(expectation, call, same[0]))
    return Ruling(tuple(findings), judged)


def _grouped(calls: Sequence[Call], paths: tuple[tuple[str, ...], ...]) -> Mapping[tuple[Key, ...], list[Call]]:
    groups: dict[tuple[Key, ...], list[Call]] = defaultdict(list)
    for call in calls:
        values = _key(call, paths)
        if values is not None:
            groups[values].append(call)
    return groups


def _key(call: Call, paths: tuple[tuple[str, ...], ...]) -> tuple[Key, ...] | None:
    values = [at(call.arguments, path) for path in paths]
    return tuple(key(value[0]) for value in values) if all(values) else None


def _informed(view: View, befores: Sequence[Call], call: Call) -> bool:
    if call.known is not None:
        return any(before.id in call.known for before in befores)
    first = view.answered.get(befores[0].id)
    if first is not None and first < call.seq:
        return True
    return any(view.answered.get(before.id, call.seq) < call.seq for before in befores)


def _earlier(before: Call, after: Call) -> bool:
    return before.seq < after.seq and not _siblings(before, after)


def _siblings(one: Call | None, other: Call) -> bool:
    return one is not None and one.group is not None and one.group == other.group


def _missing(expectation: Precedence, call: Call) -> Finding:
    message = f"{expectation.after} was called without any {expectation.before}: {line(expectation)}"
    return found(expectation, "tool.precedence_missing", message, seq=call.seq, actual=call.arguments)


def _late(expectation: Precedence, call: Call, before: Call) -> Finding:
    how = (
        f"the answer of {expectation.before} was not known yet"
        if expectation.scope == "informed"
        else f"{expectation.before} came later"
    )
    message = f"{expectation.after} was called while {how} [evidence {before.seq}]: {line(expectation)}"
    return found(expectation, "tool.precedence", message, seq=call.seq, actual=call.arguments)
