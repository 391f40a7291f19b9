"""What the run was about and what it said in the end."""

from __future__ import annotations

from collections import Counter

from flowproof_runner.evidence.model import Asked, Decided, Evidence, Replied

_REFUSED = 400


def main_thread(evidence: Evidence) -> str | None:
    """The conversation the flow is about: most turns, then most request text, then the first; None without turns."""
    if evidence.main is not None and any(asked.thread == evidence.main for asked in evidence.of(Asked)):
        return evidence.main
    turns = Counter[str]()
    text = Counter[str]()
    for asked in evidence.of(Asked):
        turns[asked.thread] += 1
        text[asked.thread] += asked.request_chars
    return max(turns, key=lambda thread: (turns[thread], text[thread]), default=None)


def reply(evidence: Evidence) -> str | None:
    """The last assistant text of the main conversation; None when its last turn asks for tools or says nothing."""
    thread = main_thread(evidence)
    last = None
    for event in evidence.of(Replied):
        if event.thread == thread and event.status < _REFUSED:
            last = event
    if last is None or any(call.turn == last.turn for call in evidence.of(Decided)):
        return None
    return last.text
