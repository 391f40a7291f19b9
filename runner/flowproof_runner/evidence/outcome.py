"""Where a run's structured outcome is read: the last reply, a tool's arguments, a file, a response body."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.conclusion import reply
from flowproof_runner.evidence.model import MODEL, Concluded, Decided, Evidence
from flowproof_runner.evidence.names import named

_FENCE = re.compile(r"```(?:json)?[ \t]*\r?\n(.*?)\r?\n[ \t]*```", re.DOTALL)


def with_outcome(evidence: Evidence, kind: str, name: str = "", text: str | None = None) -> Evidence:
    """The evidence with its outcome; unchanged where none is to be found, which checks report as missing.

    `kind` and `name` are those of `agent.output`; `text` is the content of the file or response body.
    """
    if any(True for _ in evidence.of(Concluded)):
        return evidence
    found = _found(evidence, kind, name, text)
    if found is None:
        return evidence
    seq = evidence.events[-1].seq + 1 if evidence.events else 0
    concluded = Concluded(seq=seq, lane=MODEL, status=None, output=found[0])
    return replace(evidence, events=(*evidence.events, concluded))


def _found(evidence: Evidence, kind: str, name: str, text: str | None) -> tuple[JsonValue] | None:
    match kind:
        case "reply":
            said = reply(evidence)
            return None if said is None else (said,)
        case "reply json":
            said = reply(evidence)
            return None if said is None else _json(said)
        case "tool":
            calls = [event for event in evidence.of(Decided) if name in named(event.tool, None)]
            return (calls[-1].arguments,) if calls else None
        case "file" | "body":
            return None if text is None else _json(text)
        case _:
            return None


def _json(text: str) -> tuple[JsonValue] | None:
    """The text as JSON, else the last fenced block in it that is."""
    for candidate in (text, *reversed(_FENCE.findall(text))):
        try:
            value: JsonValue = json.loads(candidate)
        except ValueError:
            continue
        return (value,)
    return None
