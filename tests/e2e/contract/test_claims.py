"""The travel-claims example as its README runs it: agent, contract, mutants, control, eleven worlds."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from flowproof_runner.contract.file import load
from flowproof_runner.contract.run import ContractRun, run
from flowproof_runner.entry import run as flowproof
from flowproof_runner.findings import Exit
from flowproof_runner.mutate.score import Subject, study
from flowproof_runner.mutate.worlds import visit_all

CLAIMS = Path(__file__).parents[3] / "examples" / "contracts" / "claims"
AGENT = (sys.executable, str(CLAIMS / "agent.py"))


@pytest.fixture(scope="module")
def baseline() -> ContractRun:
    return run(load(CLAIMS / "contract.yml"), AGENT)


def test_the_contract_accepts_the_agent_and_every_expectation_is_exercised(baseline: ContractRun) -> None:
    assert baseline.findings == ()
    assert baseline.exit == Exit.PASS
    assert [each.text for each in baseline.exercised if not each.times] == []


def test_the_contract_catches_98_percent_with_and_without_the_report_and_the_control_does_not(
    baseline: ContractRun,
) -> None:
    subject = Subject.of(baseline.file.contract, baseline.evidence)
    found = study(subject, baseline.evidence, baseline.file.reads)
    assert found.score.scorable > 90
    assert found.score.percent >= 98
    assert found.without_outcome is not None
    assert found.without_outcome.scorable > 60
    assert found.without_outcome.percent >= 98
    assert found.control.percent <= 5
    assert found.score.overblocked == ()
    assert found.without_outcome.overblocked == ()


def test_the_contract_accepts_the_agent_in_all_eleven_neighbouring_worlds(baseline: ContractRun) -> None:
    visits = visit_all(baseline.file, AGENT, CLAIMS / "worlds", baseline.evidence)
    assert len(visits) == 11
    assert {visit.name: (visit.verdict, visit.why) for visit in visits if visit.verdict != "accepted"} == {}


def test_a_world_where_the_agent_is_wrong_says_nothing_about_the_contract(
    baseline: ContractRun, tmp_path: Path
) -> None:
    (tmp_path / "odd.yml").write_text("about: never\ncorrect: { calls: { claims.pay: 17 } }\n")
    visits = visit_all(baseline.file, AGENT, tmp_path, baseline.evidence)
    assert [(visit.verdict, visit.why) for visit in visits] == [
        ("invalid", "claims.pay was called 2 times, expected 17")
    ]


def test_the_command_prints_the_numbers_together_and_fails_below_the_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(CLAIMS)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert flowproof(["mutate", "contract.yml", "--threshold", "98", "--json"]) == Exit.PASS
    told = json.loads(capsys.readouterr().out)
    assert told["score"]["percent"] >= 98 > 5 >= told["control"]["percent"]
    lax = tmp_path / "lax.yml"
    text = (CLAIMS / "contract.yml").read_text().replace("{ $file: ", f"{{ $file: {CLAIMS}/")
    head, _, _ = text.partition("expect:")
    lax.write_text(head + "expect: { calls: [rules.read, claims.list] }\n")
    assert flowproof(["mutate", str(lax), "--threshold", "98"]) == Exit.FAILED
