"""What a person or a CI server asks of a whole invocation: selection, order, shared setup, reports, a look back."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from tests.e2e.scenario import BIN, Scenario, chat, python

type New = Callable[..., Scenario]


@pytest.fixture
def three(planned: New) -> Scenario:
    """Three recorded flows, the second of which has drifted."""
    flow = planned([chat("one"), chat("two")], name="a")
    assert flow.record().code == 0
    flow.copy("c")
    drifted = flow.copy("b", agent={"command": python("plan.py", "b.json")})
    drifted.plan([chat("one"), chat("three")])
    return flow


def verdicts(flow: Scenario, *options: str, **shell: str) -> list[str]:
    outcome = flow.cli("run", ".", *options, **shell)
    assert outcome.report is not None, outcome.said
    return [f"{Path(f.spec).name[0]} {f.verdict}" for f in outcome.report.flows]


def test_flows_are_told_in_order_however_many_run_at_a_time(three: Scenario) -> None:
    for jobs in ("1", "3", "auto"):
        assert verdicts(three, "-j", jobs) == ["a pass", "b fail", "c pass"]


@pytest.mark.parametrize(
    "options, expected",
    [
        (("-k", "a.flow or c.flow"), ["a pass", "c pass"]),
        (("-k", "not b.flow"), ["a pass", "c pass"]),
        (("--fail-fast",), ["a pass", "b fail", "c skip"]),
    ],
)
def test_what_is_selected_runs(options: tuple[str, ...], expected: list[str], three: Scenario) -> None:
    assert verdicts(three, *options) == expected


def test_a_suite_gives_order_environment_and_commands(three: Scenario) -> None:
    (three.folder / ".env.test").write_text("OPENAI_API_KEY=sk-never-for-the-agent\n")
    (three.folder / "suite.yaml").write_text(
        "order: [c.flow.yaml]\nenv_from: .env.test\nenv: { NOTE: '${flowproof.run_dir}' }\n"
        "before_each: [[sh, -c, 'echo begin >> log']]\nafter_each: [[sh, -c, 'echo end >> log']]\n"
    )
    assert verdicts(three) == ["c pass", "a pass", "b fail"]
    assert (three.folder / "log").read_text() == "begin\nend\n" * 3


def test_a_setup_that_fails_is_an_error_and_no_agent_runs(three: Scenario) -> None:
    (three.folder / "suite.yaml").write_text("before_each: [[sh, -c, 'echo no database >&2; exit 7']]\n")
    outcome = three.cli("run", "a.flow.yaml")
    assert (outcome.code, outcome.ids) == (2, ["suite.before-each"])
    assert "no database" in outcome.said
    assert outcome.flow.agent is None


def test_a_broken_suite_is_named_with_its_place(three: Scenario) -> None:
    (three.folder / "suite.yaml").write_text("orders: []\n")
    outcome = three.cli("run", ".")
    assert outcome.code == 2
    assert "suite.yaml:1:1: orders: unknown key; did you mean 'order'?" in outcome.said


def test_one_broken_spec_does_not_keep_the_others_from_running(three: Scenario) -> None:
    (three.folder / "b.flow.yaml").write_text("name: [\n")
    assert verdicts(three) == ["a pass", "b error", "c pass"]


def test_ci_servers_get_junit_where_they_ask_for_it(three: Scenario) -> None:
    assert three.cli("run", ".", "--junit", "out/junit.xml").code == 1
    suite = Xml.parse(three.folder / "out/junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")


def test_github_gets_an_annotation_at_the_spec_and_a_page(three: Scenario, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    outcome = three.cli(
        "run",
        ".",
        GITHUB_ACTIONS="true",
        GITHUB_WORKSPACE=str(three.folder.parent),
        GITHUB_STEP_SUMMARY=str(page),
    )
    (annotation,) = [line for line in outcome.stdout.splitlines() if line.startswith("::")]
    assert annotation.startswith("::error file=work/b.flow.yaml,line=")
    assert "messages[1].content" in annotation
    assert "| ❌ fail | b.flow.yaml" in page.read_text()


def test_an_error_without_a_report_is_json_all_the_same(three: Scenario) -> None:
    outcome = three.cli("run", "gone", "--json")
    assert outcome.code == 2
    assert json.loads(outcome.stdout)["error"].startswith("'gone' does not exist")
    assert outcome.stderr.startswith("flowproof: 'gone' does not exist")


@pytest.mark.parametrize("target", ["a.trace.json", "a.flow.yaml"])
def test_a_recording_can_be_looked_at(target: str, three: Scenario) -> None:
    shown = three.cli("show", target)
    assert shown.code == 0
    assert "turn 1  openai-chat brain-1" in shown.stdout
    assert "replies" in shown.stdout


def test_the_latest_run_can_be_looked_at_with_its_failures(three: Scenario) -> None:
    assert three.cli("run", ".").code == 1
    shown = three.cli("show")
    assert shown.code == 0
    assert "diverged" in shown.stdout
    assert "1 failed, 2 passed" in shown.stdout


def test_check_says_what_run_would_stumble_over(three: Scenario) -> None:
    (three.folder / "c.trace.json").write_text("{}")
    outcome = three.cli("check", ".")
    assert outcome.code == 2
    assert "c.trace.json" in outcome.stderr
    assert "ok     a.flow.yaml" in outcome.stdout


def test_old_runs_are_removed(three: Scenario) -> None:
    for _ in range(3):
        three.cli("run", "a.flow.yaml", FLOWPROOF_KEEP_RUNS="2")
    runs = three.folder / ".flowproof/runs"
    assert len([p for p in runs.iterdir() if p.is_dir() and not p.is_symlink()]) == 2
    assert (runs / "latest" / "report.json").exists()


def test_an_agent_finds_its_task_and_its_model_by_handle(scenario: New) -> None:
    flow = scenario(
        {
            "command": [*python("plan.py", "flow.json"), "${flowproof.prompt}", "${flowproof.nonsense}"],
            "env": {"OPENAI_BASE_URL": "${flowproof.proxy_url}"},
        }
    )
    (flow.folder / "flow.json").write_text(json.dumps([chat("one")]))
    outcome = flow.record()
    assert outcome.code == 0, outcome.said
    assert "unknown handle ${flowproof.nonsense} is passed on as it is" in outcome.said


def test_a_reader_that_goes_away_changes_no_verdict(three: Scenario) -> None:
    with three.start("run", ".").process as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 1
    assert (three.folder / ".flowproof/runs/latest/report.json").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_output_that_goes_nowhere_changes_no_verdict(three: Scenario) -> None:
    """A closed stdout, and one on a full disk; the reports of the run folder are there all the same."""
    for redirected, said in ((">&-", ""), (">/dev/full", "stdout cannot be written: No space left on device")):
        words = ["/bin/sh", "-c", f'exec "$0" run . {redirected}', str(BIN / "flowproof")]
        done = subprocess.run(words, cwd=three.folder, env=three.shell, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1
        assert done.stderr.removeprefix("flowproof: ").strip() == said
        assert json.loads((three.folder / ".flowproof/runs/latest/report.json").read_text())["exit_code"] == 1


def test_half_a_character_in_a_request_is_told_like_any_difference(planned: New) -> None:
    flow = planned([chat("whole")])
    assert flow.record().code == 0
    flow.plan([chat("cut \ud83d")])
    outcome = flow.run("--json", PYTHONIOENCODING="ascii")
    assert (outcome.code, outcome.ids[0]) == (1, "model.divergence")
    assert json.loads(outcome.stdout)["exit_code"] == 1
