"""Why an expected call was not found: the nearest thing that did happen, in words."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence

from flowproof_runner.expectations.ast import CallAssertion, Clause
from flowproof_runner.expectations.calls import Call, asked_for, clause_holds, looked_at, meets
from flowproof_runner.expectations.words import shown, subject_words
from flowproof_runner.matchers.path import Missing

_SHOWN = 5


def nearest(assertion: CallAssertion, calls: Sequence[Call], after: Call | None, claimed: Sequence[Call]) -> str:
    """One sentence. `after`: the call the demand before was met by, which this one may not precede."""
    same = [call for call in calls if asked_for(assertion, call)]
    fitting = [call for call in same if meets(assertion, call)]
    if fitting:
        return _misplaced(assertion, fitting, after, claimed)
    if same:
        best = max(same, key=lambda call: sum(clause_holds(clause, call) for clause in assertion.clauses))
        return f"{assertion.tool} was {_verb(assertion)} with {_wrong(assertion, best)} {turn(best)}"
    return _never(assertion, calls)


def candidates(assertion: CallAssertion, calls: Sequence[Call]) -> str:
    """The calls of the same tool with all their arguments, a line each."""
    same = [call for call in calls if asked_for(assertion, call)]
    lines = [f"{call.tool} {turn(call)} {shown(call.arguments, 400)}" for call in same[:_SHOWN]]
    if len(same) > _SHOWN:
        lines.append(f"and {len(same) - _SHOWN} more")
    return "\n".join(lines)


def turn(call: Call) -> str:
    """When a call happened."""
    return f"(turn {call.turn})" if call.turn is not None else "(outside any turn)"


def _misplaced(assertion: CallAssertion, fitting: list[Call], after: Call | None, claimed: Sequence[Call]) -> str:
    free = [call for call in fitting if call not in claimed]
    if free and after is not None:
        return f"{assertion.tool} was {_verb(assertion)} {turn(free[-1])}, but before {after.tool} {turn(after)}"
    times = f"{len(fitting)} time{'s' if len(fitting) > 1 else ''}"
    return f"{assertion.tool} was {_verb(assertion)} only {times}, and earlier steps claim that"


def _wrong(assertion: CallAssertion, call: Call) -> str:
    return ", ".join(_found(clause, call) for clause in assertion.clauses if not clause_holds(clause, call))


def _found(clause: Clause, call: Call) -> str:
    value = looked_at(clause, call)
    subject = subject_words(clause) or "arguments"
    if clause.subject != "arguments" and isinstance(call.result, Missing):
        return "no result"
    return f"{subject} {shown(value)}" if not isinstance(value, Missing) else f"no {subject}"


def _never(assertion: CallAssertion, calls: Sequence[Call]) -> str:
    others = [call for call in calls if assertion.tool in call.names]
    if others and assertion.kind == "call":
        asked = not others[0].dispatched
        what = "the model asked for it, but no such call reached a server" if asked else "it reached a server undecided"
        return f"{what} {turn(others[0])}"
    of_kind = Counter(call.tool for call in calls if _same_kind(assertion, call))
    if not of_kind:
        return f"no tool was {_verb(assertion)}"
    names = ", ".join(f"{name} x{count}" if count > 1 else name for name, count in of_kind.most_common(_SHOWN))
    near = difflib.get_close_matches(assertion.tool, of_kind, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{_verb(assertion)} were {names}{hint}"


def _same_kind(assertion: CallAssertion, call: Call) -> bool:
    return not call.dispatched if assertion.kind == "request" else call.counts


def _verb(assertion: CallAssertion) -> str:
    return "asked for" if assertion.kind in ("request", "no_request") else "called"
