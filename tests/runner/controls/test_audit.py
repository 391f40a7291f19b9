"""What the records of past runs say about the controls that specs declare."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from flowproof_runner.controls.audit import Audit, Declared, audit
from flowproof_runner.controls.controls import ControlRow, ControlVerdict, Secrets
from flowproof_runner.controls.records import Record, holders, read
from flowproof_runner.findings import Exit
from flowproof_runner.records import runs
from flowproof_runner.report import audit as report
from flowproof_runner.report.style import Style

EGRESS = Declared("sec.egress", "Touches nothing undeclared", "specs/egress.flow.yaml", "d1")
PLAN = Declared("sec.plan", "Plan mode is read-only", "specs/plan.flow.yaml", "d2")


def record(run: str, verdict: ControlVerdict = "pass", control: Declared = EGRESS, **fields: Any) -> Record:
    row = ControlRow(
        id=control.id,
        title=control.title,
        verdict=verdict,
        lanes=("egress",),
        containment="enforced (linux seccomp)",
        spec_digest=control.digest,
        **fields,
    )
    return Record(run, control.spec, "replay", row)


def judged(records: Sequence[Record], since: str | None = None, **options: Any) -> Audit:
    return audit(options.pop("declared", (EGRESS,)), records, since=since, **options)


def test_a_control_whose_newest_run_passed_is_certified() -> None:
    found = judged([record("run-1", "fail"), record("run-2")])
    assert (found.lines[0].state, found.lines[0].regression, found.exit_code) == ("pass", None, Exit.PASS)


@pytest.mark.parametrize(
    ("history", "regression", "code"),
    [
        ((), "never run", Exit.FAILED),
        (("fail",), "failing", Exit.FAILED),
        (("pass", "fail"), "failing", Exit.FAILED),
        (("fail", "fail"), "failing", Exit.FAILED),
        (("pass", "capability-error"), "newly uncertifiable", Exit.FAILED),
        (("pass", "capability-error", "capability-error"), "newly uncertifiable", Exit.FAILED),
        (("capability-error",), None, Exit.UNUSABLE),
        (("fail", "capability-error"), None, Exit.UNUSABLE),
        (("capability-error", "pass"), None, Exit.PASS),
    ],
)
def test_a_control_by_its_history(history: tuple[ControlVerdict, ...], regression: str | None, code: Exit) -> None:
    found = judged([record(f"run-{n}", verdict) for n, verdict in enumerate(history)])
    assert (found.lines[0].regression, found.exit_code) == (regression, code)


def test_a_run_of_one_spec_hides_no_other() -> None:
    suite = [record("run-1"), record("run-1", control=PLAN)]
    alone = record("run-2", control=PLAN)
    found = judged([*suite, alone], declared=(EGRESS, PLAN))
    assert [(line.id, line.record and line.record.run) for line in found.lines] == [
        ("sec.egress", "run-1"),
        ("sec.plan", "run-2"),
    ]
    assert found.exit_code is Exit.PASS


def test_a_spec_that_was_skipped_since_its_newest_record_has_lost_its_control() -> None:
    assert judged([record("run-1")], appeared={EGRESS.spec: "run-1"}).lines[0].regression is None
    assert judged([record("run-1")], appeared={EGRESS.spec: "run-2"}).lines[0].regression == "lost"


def test_compared_with_a_run_a_control_no_spec_declares_any_more_is_lost() -> None:
    records = [record("run-1"), record("run-1", control=PLAN), record("run-2")]
    assert [line.id for line in judged(records).lines] == ["sec.egress"]
    lost = judged(records, since="run-1")
    assert [(line.id, line.regression, line.declared) for line in lost.lines] == [
        ("sec.egress", None, True),
        ("sec.plan", "lost", False),
    ]
    assert lost.exit_code is Exit.FAILED


def test_compared_with_a_run_only_what_it_certified_can_be_newly_uncertifiable() -> None:
    records = [record("run-1"), record("run-2", "capability-error"), record("run-3", "capability-error")]
    assert judged(records, since="run-1").lines[0].regression == "newly uncertifiable"
    assert judged(records, since="run-2").lines[0].regression is None
    assert judged(records, since="run-2").exit_code is Exit.UNUSABLE


def test_evidence_of_an_earlier_spec_is_told() -> None:
    changed = Declared(EGRESS.id, EGRESS.title, EGRESS.spec, "another digest")
    assert judged([record("run-1")]).lines[0].outdated is False
    assert judged([record("run-1")], declared=(changed,)).lines[0].outdated is True


def test_the_audit_reads_as_text_and_as_json() -> None:
    evidence = {"allow_egress": ["${SERVICE}:443"], "blocked": [{"destination": "198.51.100.9:443"}]}
    secrets = Secrets(checked=("API_TOKEN",), excluded={"PIN": "fewer than 8 characters"})
    found = judged(
        [record("run-1", "fail", evidence=evidence, secrets=secrets, findings=("egress.undeclared",))],
        declared=(EGRESS, PLAN),
    )
    assert report.render(found, ["x is no run record"], Style()) == (
        "fail              sec.egress\n"
        "                  Touches nothing undeclared · specs/egress.flow.yaml\n"
        "                  asserted     egress\n"
        "                  containment  enforced (linux seccomp)\n"
        "                  declared     ${SERVICE}:443\n"
        "                  blocked      198.51.100.9:443\n"
        "                  secrets      API_TOKEN, PIN excluded: fewer than 8 characters\n"
        "                  findings     egress.undeclared\n"
        "                  evidence of  run-1 (replay)\n"
        "                  failing: its newest run failed\n"
        "\n"
        "no record         sec.plan\n"
        "                  Plan mode is read-only · specs/plan.flow.yaml\n"
        "                  never run: no run has a record of it\n"
        "\n"
        "note  x is no run record\n"
        "0 of 2 controls certified, 2 regressions\n"
    )
    document = json.loads(report.as_json(found, []))
    first, second = document["controls"]
    assert (document["exit_code"], first["verdict"], first["regression"], first["run"]) == (
        1,
        "fail",
        "failing",
        "run-1",
    )
    assert first["secrets"] == {"checked": ["API_TOKEN"], "excluded": {"PIN": "fewer than 8 characters"}}
    assert (second["verdict"], second["run"]) == ("no record", None)


def write(root: Path, run: str, *controls: Record, skipped: Sequence[str] = ()) -> Path:
    folder = root / run
    folder.mkdir(parents=True)
    flows: list[dict[str, Any]] = [
        {"spec": r.spec, "phase": r.phase, "control": r.row.model_dump(mode="json")} for r in controls
    ]
    flows += [{"spec": spec, "phase": "replay", "control": None} for spec in skipped]
    (folder / "report.json").write_text(json.dumps({"schema": 1, "flows": flows}))
    return folder


def test_records_are_read_from_finished_runs_oldest_first(tmp_path: Path) -> None:
    second, first = record("run-2", control=PLAN), record("run-1")
    write(tmp_path, "run-2", second, skipped=[EGRESS.spec])
    write(tmp_path, "run-1", first)
    (tmp_path / "run-3").mkdir()
    (tmp_path / "latest").symlink_to("run-2")
    found = read(tmp_path)
    assert found.found == (first, second)
    assert found.appeared == {EGRESS.spec: "run-2", PLAN.spec: "run-2"}
    assert read(tmp_path / "missing").found == ()


@pytest.mark.parametrize("text", ["{", "[]", '{"flows": [{"control": {"verdict": "great"}}]}'])
def test_a_record_that_cannot_be_read_is_told_and_hides_no_other(tmp_path: Path, text: str) -> None:
    write(tmp_path, "run-1", record("run-1"))
    (tmp_path / "run-2").mkdir()
    (tmp_path / "run-2" / "report.json").write_text(text)
    found = read(tmp_path)
    assert found.found == (record("run-1"),)
    [note] = found.unreadable
    assert "run-2" in note


def test_a_record_without_a_verdict_is_of_an_older_flowproof_and_proves_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path, "run-1")
    flow = {"spec": EGRESS.spec, "control": {"id": EGRESS.id, "title": EGRESS.title}}
    (folder / "report.json").write_text(json.dumps({"flows": [flow]}))
    assert read(tmp_path).found == ()


def test_the_run_with_a_controls_newest_evidence_outlives_newer_runs_without(tmp_path: Path) -> None:
    now = datetime(2026, 12, 2, 6, 45, 12, tzinfo=UTC)
    shell = {"FLOWPROOF_KEEP_RUNS": "2"}
    made = [runs.create(tmp_path, shell, now)]
    for number, control in enumerate((EGRESS, EGRESS, None, None, None), start=1):
        if control:
            (made[-1].path / "report.json").write_text(
                json.dumps({"flows": [{"spec": "x", "control": record("r").row.model_dump(mode="json")}]})
            )
        made.append(runs.create(tmp_path, shell, now + timedelta(seconds=number)))
    left = {path.name for path in made[0].path.parent.iterdir() if path.is_dir() and not path.is_symlink()}
    assert left == {made[1].id, made[-2].id, made[-1].id}
    assert holders([run.path for run in made if run.path.exists()]) == {made[1].path}
