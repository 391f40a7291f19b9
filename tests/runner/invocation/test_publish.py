"""Reports reach the terminal, the run folder, the files asked for, and GitHub."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import pytest

from flowproof_runner.invocation.publish import Outlet, ReportError
from flowproof_runner.result import FindingResult, FlowResult, RunResult


@pytest.fixture
def run(tmp_path: Path) -> RunResult:
    found = FindingResult(id="a.b", message="it is wrong", where="a.flow.yaml:3")
    flow = FlowResult(name="A", spec="a.flow.yaml", phase="replay", verdict="fail", exit_code=1, findings=(found,))
    return RunResult(
        flowproof="0.1.0",
        command="run",
        id="x",
        folder="runs/x",
        started_at="2026-12-02T06:45:12Z",
        duration_s=1.0,
        verdict="fail",
        exit_code=1,
        flows=(flow,),
    )


def test_people_read_stdout(run: RunResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Outlet({}).publish(run, tmp_path)
    printed = capsys.readouterr()
    assert "it is wrong [a.b]" in printed.out
    assert printed.err == ""
    assert json.loads((tmp_path / "report.json").read_text())["verdict"] == "fail"
    assert (tmp_path / "junit.xml").read_text().startswith("<?xml")


def test_with_json_stdout_holds_nothing_else(
    run: RunResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Outlet({"GITHUB_ACTIONS": "true"}, as_json=True).publish(run, tmp_path)
    printed = capsys.readouterr()
    assert RunResult.model_validate_json(printed.out) == run
    assert "it is wrong [a.b]" in printed.err
    assert "::error" in printed.err


def test_junit_is_also_written_where_asked(run: RunResult, tmp_path: Path) -> None:
    Outlet({}, junit=tmp_path / "deep/er/junit.xml").publish(run, tmp_path)
    assert (tmp_path / "deep/er/junit.xml").read_text() == (tmp_path / "junit.xml").read_text()


def test_github_gets_annotations_seen_from_the_checkout_and_a_page(
    run: RunResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "apps").mkdir()
    monkeypatch.chdir(tmp_path / "apps")
    page = tmp_path / "page.md"
    page.write_text("before\n")
    shell = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(tmp_path), "GITHUB_STEP_SUMMARY": str(page)}
    Outlet(shell).publish(run, tmp_path)
    assert "::error file=apps/a.flow.yaml,line=3," in capsys.readouterr().out
    assert page.read_text().startswith("before\n### flowproof run")


def test_outside_github_nothing_is_annotated(
    run: RunResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Outlet({"CI": "true"}).publish(run, tmp_path)
    assert "::error" not in capsys.readouterr().out


def test_a_report_that_cannot_be_written_is_an_error_after_people_were_told(
    run: RunResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ReportError, match="cannot be written"):
        Outlet({}, junit=tmp_path / "file/junit.xml").publish(run, tmp_path)
    assert "it is wrong" in capsys.readouterr().out


def test_a_report_that_cannot_be_written_leaves_the_one_before_it(run: RunResult, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(ReportError, match=r"report .*report\.json: cannot be written"):
            Outlet({}).publish(run, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "report.json").read_text() == "before"
