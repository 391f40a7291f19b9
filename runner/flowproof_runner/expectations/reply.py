"""Judges the steps about the agent's last reply."""

from __future__ import annotations

from flowproof_runner.evidence.conclusion import main_thread, reply
from flowproof_runner.evidence.model import Decided, Evidence, Replied
from flowproof_runner.expectations.ast import PlacedStep, ReplyAssertion
from flowproof_runner.expectations.judgement import Judgement, StepResult
from flowproof_runner.expectations.words import reply_words, shown, step_words
from flowproof_runner.findings import Finding
from flowproof_runner.matchers.matchers import holds


def judged(placed: PlacedStep, assertion: ReplyAssertion, evidence: Evidence) -> Judgement:
    """Judge one demand on the reply; a run that has not replied meets none, not even a negative one."""
    said = reply(evidence)
    text = step_words(assertion)
    if said is not None and holds(assertion.matcher, said):
        return Judgement(steps=(StepResult(placed.number, text, placed.where, True, _seq(evidence, said)),))
    wanted = f"expected the reply: {reply_words(assertion.matcher)}"
    finding = Finding(
        id="reply.missing" if said is None else "reply.mismatch",
        message=f"{wanted}; {_absent(evidence)}" if said is None else f"{wanted}; it is {shown(said)}",
        where=placed.where,
        detail=said or "",
        actual=said,
    )
    return Judgement((finding,), (), (StepResult(placed.number, text, placed.where, False, (), finding.message),))


def _absent(evidence: Evidence) -> str:
    thread = main_thread(evidence)
    if thread is None:
        return "there is none: no model request was seen"
    last = max((event.turn or 0 for event in evidence.of(Replied) if event.thread == thread), default=0)
    asked = [call.tool for call in evidence.of(Decided) if call.turn == last]
    if asked:
        return f"there is none yet: the last turn ({last}) asks for {', '.join(asked)}"
    return "there is none: the last turn of the main conversation holds no text"


def _seq(evidence: Evidence, text: str) -> tuple[int, ...]:
    return tuple(event.seq for event in evidence.of(Replied) if event.text == text)[-1:]
