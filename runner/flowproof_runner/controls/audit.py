"""What the records say about the controls that specs declare. Pure: nothing is run or read here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from flowproof_runner.controls.records import Record
from flowproof_runner.findings import Exit

type State = Literal["pass", "fail", "capability-error", "no record"]
type Regression = Literal["failing", "newly uncertifiable", "lost", "never run"]


@dataclass(frozen=True, slots=True)
class Declared:
    """A control as a spec declares it now."""

    id: str
    title: str
    spec: str
    digest: str


@dataclass(frozen=True, slots=True)
class Line:
    """One control."""

    id: str
    title: str
    spec: str
    record: Record | None
    """Its newest evidence."""
    before: Record | None = None
    """The evidence it is compared with."""
    regression: Regression | None = None
    outdated: bool = False
    """The spec was changed after its newest evidence."""
    declared: bool = True
    """False when only a past run knows it."""

    @property
    def state(self) -> State:
        """What the newest evidence says."""
        return self.record.row.verdict if self.record else "no record"


@dataclass(frozen=True, slots=True)
class Audit:
    """All controls, by id."""

    lines: tuple[Line, ...]
    since: str | None = None

    @property
    def exit_code(self) -> Exit:
        """1 for any regression; else 2 if a control cannot be certified here; else 0."""
        if any(line.regression for line in self.lines):
            return Exit.FAILED
        return Exit.UNUSABLE if any(line.state == "capability-error" for line in self.lines) else Exit.PASS


def audit(
    declared: Sequence[Declared],
    records: Sequence[Record],
    appeared: Mapping[str, str] | None = None,
    since: str | None = None,
) -> Audit:
    """Judge each control by its newest record, whichever run it is from: a run of one spec hides no other's.

    `records` are sorted, oldest first; `appeared` tells for each spec the newest run it was part of, with a record or
    without. `since` is the id of the run to compare with; without it each control is compared with the newest of its
    own earlier records that passed.
    """
    known = {one.id: one for one in declared}
    for record in records:
        if since is not None and record.run == since:
            known.setdefault(record.row.id, Declared(record.row.id, record.row.title, record.spec, ""))
    stated = {one.id for one in declared}
    history = _by_control(records)
    lines = (_line(known[id], history.get(id, ()), appeared or {}, since, id in stated) for id in sorted(known))
    return Audit(tuple(lines), since)


def _by_control(records: Sequence[Record]) -> Mapping[str, tuple[Record, ...]]:
    found: dict[str, tuple[Record, ...]] = {}
    for record in records:
        found[record.row.id] = (*found.get(record.row.id, ()), record)
    return found


def _line(
    control: Declared, history: Sequence[Record], appeared: Mapping[str, str], since: str | None, declared: bool
) -> Line:
    newest = history[-1] if history else None
    before = _before(history, since)
    gone = not declared or (newest is not None and appeared.get(newest.spec, "") > newest.run)
    return Line(
        control.id,
        control.title,
        control.spec,
        newest,
        before,
        "lost" if gone else _regression(newest, before),
        outdated=bool(newest and control.digest and newest.row.spec_digest != control.digest),
        declared=declared,
    )


def _before(history: Sequence[Record], since: str | None) -> Record | None:
    if since is not None:
        return next((record for record in reversed(history) if record.run == since), None)
    return next((record for record in reversed(history[:-1]) if record.row.verdict == "pass"), None)


def _regression(newest: Record | None, before: Record | None) -> Regression | None:
    if newest is None:
        return "never run"
    if newest.row.verdict == "fail":
        return "failing"
    was_certified = before is not None and before.row.verdict == "pass"
    return "newly uncertifiable" if newest.row.verdict == "capability-error" and was_certified else None
