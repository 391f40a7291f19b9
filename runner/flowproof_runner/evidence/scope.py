"""The part of a conversation's evidence that came of one user turn."""

from __future__ import annotations

from dataclasses import replace

from flowproof_runner.evidence.conclusion import main_thread
from flowproof_runner.evidence.model import Asked, Evidence


def within(evidence: Evidence, user_turn: int) -> Evidence:
    """What happened in a user turn; events keep their places in the run.

    The main conversation stays the run's, where it takes part: a title made for a chat may be the longer thread once.
    """
    events = tuple(event for event in evidence.events if event.user_turn == user_turn)
    return replace(evidence, events=events, main=main_thread(evidence))


def asked(evidence: Evidence) -> bool:
    """True when a model request was seen."""
    return any(evidence.of(Asked))
