"""An audit for people, and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.controls.audit import Audit, Line, State
from flowproof_runner.drivers.tail import clean
from flowproof_runner.report import words
from flowproof_runner.report.style import Colour, Style

SCHEMA = 1
_COLOURS: Mapping[State, Colour] = {
    "pass": "green",
    "fail": "red",
    "capability-error": "yellow",
    "no record": "red",
}
_MEANING = {
    "failing": "its newest run failed",
    "newly uncertifiable": "it was certified before, and its newest run could not certify it",
    "lost": "no spec declares it any more, or its spec was skipped or unreadable since",
    "never run": "no run has a record of it",
}


def render(audit: Audit, unreadable: Sequence[str], style: Style) -> str:
    """The audit as text: a block per control, then what is wrong, then the total."""
    return "\n".join(_text(audit, unreadable, style)) + "\n"


def as_json(audit: Audit, unreadable: Sequence[str]) -> str:
    """The same facts as JSON."""
    document: dict[str, JsonValue] = {
        "schema": SCHEMA,
        "since": audit.since,
        "exit_code": int(audit.exit_code),
        "controls": [_row(line) for line in audit.lines],
        "unreadable": list(unreadable),
    }
    return json.dumps(document, indent=2) + "\n"


def _row(line: Line) -> JsonValue:
    row = line.record.row.model_dump(mode="json", exclude={"id", "title", "verdict"}) if line.record else {}
    return {
        "id": line.id,
        "title": line.title,
        "spec": line.spec,
        "verdict": line.state,
        "regression": line.regression,
        "run": line.record.run if line.record else None,
        "phase": line.record.phase if line.record else None,
        "compared_with": line.before.run if line.before else None,
        "outdated": line.outdated,
        "declared": line.declared,
        **row,
    }


def _text(audit: Audit, unreadable: Sequence[str], style: Style) -> Iterator[str]:
    for line in audit.lines:
        yield f"{style(f'{line.state:16}', _COLOURS[line.state], 'bold')}  {style(clean(line.id), 'bold')}"
        yield f"{'':18}{clean(line.title)} · {clean(line.spec)}"
        yield from (f"{'':18}{style(clean(text), 'dim')}" for text in _details(line))
        if line.regression:
            yield f"{'':18}{style(f'{line.regression}: {_MEANING[line.regression]}', 'red')}"
        yield ""
    yield from (f"{style('note', 'yellow')}  {clean(text)}" for text in unreadable)
    yield _total(audit)


def _details(line: Line) -> Iterator[str]:
    if line.record is None:
        return
    row = line.record.row
    yield f"asserted     {', '.join(row.lanes) or 'nothing'}"
    yield f"containment  {row.containment}"
    yield from _evidence(row.evidence)
    if row.secrets.checked or row.secrets.excluded:
        excluded = "; ".join(f"{name} excluded: {why}" for name, why in row.secrets.excluded.items())
        yield f"secrets      {', '.join((*row.secrets.checked, *([excluded] if excluded else [])))}"
    if row.findings:
        yield f"findings     {', '.join(row.findings)}"
    yield f"evidence of  {line.record.run} ({line.record.phase})"
    if line.outdated:
        yield "the spec was changed after this run: run it again"


def _evidence(evidence: Mapping[str, JsonValue]) -> Iterator[str]:
    allowed = evidence.get("allow_egress")
    if isinstance(allowed, list):
        yield f"declared     {', '.join(map(str, allowed)) or 'no destination'}"
    blocked = evidence.get("blocked")
    if isinstance(blocked, list) and blocked:
        yield f"blocked      {', '.join(str(one['destination']) for one in blocked if isinstance(one, dict))}"


def _total(audit: Audit) -> str:
    wrong = sum(line.regression is not None for line in audit.lines)
    passed = sum(line.state == "pass" for line in audit.lines)
    of = words.number(len(audit.lines), "control")
    since = f" since {audit.since}" if audit.since else ""
    return f"{passed} of {of} certified, {words.number(wrong, 'regression')}{since}"
