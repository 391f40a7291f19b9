"""A conversation as a flow runs it: its user, what a cassette keeps of it, and what is wrong with how it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from flowproof_addons.trace.model import Trace
from flowproof_runner.findings import Finding
from flowproof_runner.flow import verdicts
from flowproof_runner.flow.draft import Draft
from flowproof_runner.flow.plan import KEPT
from flowproof_runner.result import UserTurn
from flowproof_runner.spec.file import LoadedSpec


@dataclass(frozen=True, slots=True)
class _Went:
    """How a conversation went."""

    texts: tuple[str, ...]
    """What the user had to say, or, where nobody knew beforehand, what was said."""
    delivered: int
    turns: Counter[int] = field(default_factory=Counter)
    """Model turns by user turn."""


def kept(trace: Trace) -> tuple[str, ...]:
    """What the user says in a trace, turn by turn; empty where it is no conversation."""
    texts = trace.extra.get(KEPT)
    return tuple(str(text) for text in texts) if isinstance(texts, list) else ()


def unlike(spec: LoadedSpec, trace: Trace) -> str:
    """Why a recording cannot be replayed as the conversation of a spec; empty when it can."""
    now, then = len(spec.user_turns), len(kept(trace))
    if now == then:
        return ""
    if not then:
        return "was recorded with one task, and the spec has a conversation now"
    if not now:
        return f"is a conversation of {_count(then)}, and the spec has none now"
    return f"holds {_count(then)}, and the spec has {now}"


def told(draft: Draft, trace: Trace) -> tuple[UserTurn, ...]:
    """The user turns for reports; empty where there is no conversation."""
    went = _went(draft, trace)
    return tuple(UserTurn(number=n, text=text, turns=went.turns[n]) for n, text in enumerate(went.texts, start=1))


def findings(draft: Draft, trace: Trace, unsettled: str) -> Iterator[Finding]:
    """What is wrong with how it went. `unsettled`: why its last user turn had not settled."""
    dialogue = draft.dialogue
    if dialogue is None or draft.agent is None:
        return
    went, cause = _went(draft, trace), draft.cause
    if draft.agent.ending == "timed out":
        yield _unsettled(draft, went, unsettled, cause)
    elif dialogue.stalled:
        yield _stalled(draft, went, dialogue.stalled, cause)
    elif went.delivered < len(went.texts):
        yield _ended_early(draft, went, cause)
    for number in range(1, went.delivered + 1):
        if not went.turns[number] and any(went.turns.values()):
            yield _no_request(draft, number, went, draft.cause or cause)


def _went(draft: Draft, trace: Trace) -> _Went:
    said = tuple(draft.dialogue.delivered) if draft.dialogue is not None else ()
    turns = Counter(turn.user_turn for turn in trace.turns if turn.user_turn is not None)
    return _Went(draft.spec.user_turns or said, len(said), turns)


def _unsettled(draft: Draft, went: _Went, why: str, cause: str | None) -> Finding:
    rest = "" if went.delivered == len(went.texts) else f"; {_undelivered(went)}"
    had = f"had not settled: {why}" if why else "had settled, and the agent did not end"
    return Finding(
        id=verdicts.UNSETTLED,
        message=f"user turn {went.delivered} of {len(went.texts)} {had}{rest}",
        detail="see docs/conversations.md on when a user turn has settled; agent.quiet says it for an agent that ends"
        " its work with a tool call",
        where=_where(draft, went.delivered),
        user_turn=went.delivered,
        caused_by=cause,
    )


def _stalled(draft: Draft, went: _Went, why: str, cause: str | None) -> Finding:
    rest = "" if went.delivered == len(went.texts) else f"; {_undelivered(went)}"
    return Finding(
        id=verdicts.STALLED,
        message=f"user turn {went.delivered} of {len(went.texts)}: {why}, and then the agent asked for nothing{rest}",
        detail="the agent does less than when it was recorded; record again if that is meant",
        where=_where(draft, went.delivered),
        user_turn=went.delivered,
        caused_by=cause,
    )


def _ended_early(draft: Draft, went: _Went, cause: str | None) -> Finding:
    return Finding(
        id=verdicts.ENDED_EARLY,
        message=f"the agent ended in user turn {went.delivered} of {len(went.texts)}; {_undelivered(went)}",
        detail="" if cause else "an agent in a conversation reads its stdin until it ends: see docs/conversations.md",
        where=_where(draft, went.delivered + 1),
        expected=len(went.texts),
        actual=went.delivered,
        user_turn=went.delivered,
        caused_by=cause,
    )


def _no_request(draft: Draft, number: int, went: _Went, cause: str | None) -> Finding:
    return Finding(
        id=verdicts.UNANSWERED,
        kind="problem" if draft.phase == "record" else "check",
        message=f"user turn {number} of {len(went.texts)} came to no model request: nothing of it is tested",
        detail="" if cause else "does the agent read user turns as docs/conversations.md says?",
        where=_where(draft, number),
        user_turn=number,
        caused_by=cause,
    )


def _undelivered(went: _Went) -> str:
    first, last = went.delivered + 1, len(went.texts)
    if first == last:
        return f"user turn {first} was not delivered"
    return f"user turns {first} to {last} were not delivered"


def _where(draft: Draft, number: int) -> str:
    return draft.spec.document.where(("conversation", number - 1))


def _count(number: int) -> str:
    return f"{number} user turn{'' if number == 1 else 's'}"
