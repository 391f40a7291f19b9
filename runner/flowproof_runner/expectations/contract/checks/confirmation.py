"""Approvals: one for each call, given before it, for exactly these arguments where demanded, not taken back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import ADAPTER, Confirmed
from flowproof_runner.evidence.names import reached
from flowproof_runner.expectations.contract.call import Call, names_of
from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.model import Confirmation
from flowproof_runner.expectations.contract.resolution.env import Env
from flowproof_runner.expectations.contract.ruling import Place, Ruling, found
from flowproof_runner.expectations.contract.terms import Formula
from flowproof_runner.expectations.contract.values import key


@dataclass(frozen=True, slots=True)
class Approval:
    """One answer to a confirmation."""

    seq: int
    granted: bool
    arguments: JsonValue
    call: str | None = None
    such: Formula | None = None
    """It is only about calls that meet this."""


def judge(expectation: Confirmation, place: Place) -> Ruling:
    """Each call uses up the latest approval that fits it; a refusal takes back what it names."""
    calls = [call for call in place.view.by_tool.get(expectation.tool, ()) if not call.denied]
    approvals = sorted(_approvals(expectation, place), key=lambda each: each.seq)
    findings = []
    unused: list[Approval] = []
    for call in calls:
        while approvals and approvals[0].seq < call.seq:
            _heed(approvals.pop(0), unused)
        used = _fitting(expectation, call, unused, approvals, place)
        if used is not None:
            (unused if used in unused else approvals).remove(used)
            continue
        message = f"{call.tool} was called without {_what(expectation)}: {line(expectation)}"
        detail = f"approvals not used up then: {len(unused)}" if unused else ""
        findings.append(
            found(
                expectation,
                "safety.confirmation_required",
                message,
                severity="critical",
                seq=call.seq,
                actual=call.arguments,
                detail=detail,
            )
        )
    return Ruling(tuple(findings), len(calls))


def _heed(approval: Approval, unused: list[Approval]) -> None:
    if approval.granted:
        unused.append(approval)
        return
    named = approval.arguments is not None
    unused[:] = [each for each in unused if named and key(each.arguments) != key(approval.arguments)]


def _fitting(
    expectation: Confirmation, call: Call, unused: list[Approval], later: list[Approval], place: Place
) -> Approval | None:
    for approval in reversed(unused):
        if approval.call not in (None, call.id):
            continue
        if approval.such is not None and not place.truth(approval.such, replace(place.env, call=call)).holds:
            continue
        if not expectation.bound or _names(approval.arguments, call.arguments):
            return approval
    # A server may ask while it handles the call: that answer names the call and comes after its dispatch.
    return next((each for each in later if each.granted and each.call == call.id), None)


def _names(approved: JsonValue, arguments: JsonValue) -> bool:
    return key(approved) == key(arguments)


def _approvals(expectation: Confirmation, place: Place) -> Iterator[Approval]:
    by = expectation.by
    if expectation.prompts:
        yield from _said(expectation, place)
        return
    if by in ("any", "adapter", "elicitation"):
        others = reached(place.view.evidence)
        for event in place.view.evidence.of(Confirmed):
            if expectation.tool not in names_of(event.tool, event.lane, others):
                continue
            if by == "adapter" and event.lane != ADAPTER:
                continue
            if by == "elicitation" and event.lane == ADAPTER:
                continue
            yield Approval(event.seq, event.granted, event.arguments, event.call)
        return
    for answer in place.view.answers.get(by, ()):
        asked = answer.call.arguments
        yield Approval(answer.seq, not answer.is_error and _yes(expectation, place, answer.value, asked), _about(asked))


def _said(expectation: Confirmation, place: Place) -> Iterator[Approval]:
    """What the user said, where the run got so far: each prompt stands before the first event that came of it."""
    given = place.view.prompted
    for number in expectation.prompts:
        if number in given:
            yield Approval(given[number], True, None, such=expectation.such)
    taken_back = given.get(expectation.until or 0)
    if taken_back is not None:
        yield Approval(taken_back, False, None)


def _yes(expectation: Confirmation, place: Place, answer: JsonValue, asked: JsonValue) -> bool:
    if expectation.approves is not None:
        env = replace(Env(), arguments=(asked,), result=(answer,))
        return place.truth(expectation.approves, env).holds
    if isinstance(answer, dict):
        if answer.get("action") == "accept":
            return True
        return any(answer.get(word) is True for word in ("approved", "confirmed", "accepted", "granted"))
    return answer is True or (isinstance(answer, str) and answer.strip().lower() in ("yes", "approved", "y", "true"))


def _about(asked: JsonValue) -> JsonValue:
    """The arguments an asking tool was shown: its `arguments` object if it has one, else all it was given."""
    if isinstance(asked, dict) and isinstance(asked.get("arguments"), dict):
        return asked["arguments"]
    return asked


def _what(expectation: Confirmation) -> str:
    if expectation.prompts:
        return "a prompt that says yes to it"
    return "an approval of its own" + (" for exactly these arguments" if expectation.bound else "")
