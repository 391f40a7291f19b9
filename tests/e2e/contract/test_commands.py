"""`flowproof contract ...` as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from flowproof_runner.entry import run as flowproof

MAIN = "from flowproof_runner.entry import main; main()"

type Agent = Callable[..., list[str]]


def attempt(agent: list[str], *options: str) -> int:
    return flowproof(["contract", "test", "contract.yml", *options, "--", *agent])


def reports(folder: Path) -> list[Path]:
    return sorted((folder / ".flowproof" / "contracts").glob("*.json"))


@pytest.mark.parametrize(
    ("script", "code", "told"),
    [
        (
            'send(type="final", status="completed", output={"refunded": 0, "notes": [], "reviewed": False})',
            1,
            "tool.required",
        ),
        ('call("order"); send(type="final", status="completed", output={"notes": []})', 1, "outcome.output_schema"),
        ('call("order"); sys.exit(1)', 2, "runtime.execution"),
        ('print("no json")', 2, "is not JSON"),
        ('call("wipe"); sys.exit(1)', 3, "tool.forbidden"),
        (
            'call("order"); call("refund", amount=5)\n'
            'send(type="final", status="completed", output={"refunded": 1, "notes": []})',
            3,
            "safety.confirmation_required",
        ),
    ],
)
def test_the_exit_code_says_how_bad_it_is(
    script: str, code: int, told: str, agent: Agent, capsys: pytest.CaptureFixture[str]
) -> None:
    assert attempt(agent(script)) == code
    assert told in capsys.readouterr().out


def test_a_good_run_passes_and_its_report_can_be_inspected(
    agent: Agent, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert attempt(agent()) == 0
    [path] = reports(shop)
    assert path.stat().st_mode & 0o777 == 0o600
    capsys.readouterr()
    assert flowproof(["contract", "inspect", str(path)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("PASS shop (")
    assert "tool_call" in told
    assert "never put to the test: out.reviewed equals json(true) when count(out.notes) > json(0)" in told


def test_an_adapter_is_given_the_environment_as_it_is(agent: Agent, good: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)
    assert attempt(agent("assert 'PYDANTIC_DISABLE_PLUGINS' not in __import__('os').environ\n" + good)) == 0


def test_a_crash_after_a_critical_finding_is_still_critical_and_both_are_told(
    agent: Agent, capsys: pytest.CaptureFixture[str]
) -> None:
    assert attempt(agent('call("wipe"); print("x")')) == 3
    told = capsys.readouterr().out
    assert told.startswith("ERROR shop (") or told.startswith("FAIL shop (")
    assert "critical tool.forbidden" in told
    assert "error runtime.execution" in told


def test_reports_of_one_moment_do_not_overwrite_one_another(agent: Agent, shop: Path) -> None:
    command = agent()
    for _ in range(3):
        assert attempt(command) == 0
    assert len(reports(shop)) == 3


def test_secrets_are_hidden_in_reports_also_of_fixtures_and_whatever_their_case(
    agent: Agent, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contract = shop / "contract.yml"
    text = contract.read_text().replace('"0.1"', '"0.2"')
    head, _, _ = text.partition("expect:")
    contract.write_text(head + "redact: { keys: [TOKEN] }\nexpect:\n  args: [refund distinct token]\n")
    bad = (
        'o = call("order")["result"]\nfor _ in (1, 2): call("refund", token=o["token"])\nsend(type="final", status="x")'
    )
    assert attempt(agent(bad)) == 1
    [path] = reports(shop)
    assert "tool.arguments_not_distinct" in path.read_text()
    assert "s3cr3t-value" not in path.read_text()
    assert "s3cr3t-value" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("redact", "written"),
    [("{ keys: [token] }", "${REDACTED:token}"), ("{ keys: [token], replacement: '[gone]' }", "[gone]")],
)
def test_what_stands_in_the_place_of_a_secret_may_be_chosen(
    agent: Agent, shop: Path, redact: str, written: str
) -> None:
    contract = shop / "contract.yml"
    head, _, _ = contract.read_text().replace('"0.1"', '"0.2"').partition("expect:")
    contract.write_text(f"{head}redact: {redact}\nexpect:\n  calls: [order]\n")
    assert attempt(agent('call("order")\nsend(type="final", status="x")')) == 0
    [path] = reports(shop)
    assert f'"token": "{written}"' in path.read_text()


def test_stable_runs_pass_and_the_worst_of_several_counts(agent: Agent, shop: Path) -> None:
    assert attempt(agent(), "--repeat", "2") == 0
    assert len(reports(shop)) == 2


def test_a_report_that_changes_its_shape_or_its_tools_is_a_finding(
    agent: Agent, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = (
        "import os\nn = os.path.exists('ran'); open('ran', 'w').close()\n"
        "call('order')\nn and call('order')\n"
        "send(type='final', status='completed',"
        " output={'refunded': '1' if n else 1, 'notes': [], 'reviewed': True, ('b' if n else 'a'): 1})"
    )
    assert attempt(agent(script), "--repeat", "2") == 1
    told = capsys.readouterr().out
    assert told.count("PASS shop") == 2
    for finding in ("repeat.shape", "repeat.type", "repeat.tool_sequence"):
        assert finding in told


def test_repeat_works_with_the_adapter_of_the_file(agent: Agent, shop: Path) -> None:
    contract = shop / "contract.yml"
    contract.write_text(contract.read_text() + f"adapter: {{ command: {json.dumps(agent())} }}\n")
    assert flowproof(["contract", "test", "contract.yml", "--repeat", "2"]) == 0
    assert len(reports(shop)) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["contract", "test", "contract.yml"],
        ["contract", "test", "missing.yml", "--", "true"],
        ["contract", "test", "contract.yml", "--surprise", "--", "true"],
        ["contract", "inspect", "contract.yml"],
        ["contract", "check", "missing.yml"],
    ],
)
def test_what_cannot_be_run_is_exit_2(arguments: list[str], shop: Path) -> None:
    assert flowproof(arguments) == 2


def test_half_a_character_survives_into_the_report(agent: Agent, shop: Path) -> None:
    script = 'call("order")\nsend(type="final", status="completed", output={"refunded": 0, "notes": ["\\ud83d"]})'
    assert attempt(agent(script), "--json") == 1
    [path] = reports(shop)
    assert json.loads(path.read_text())["evidence"][-1]["output"]["notes"] == ["\ud83d"]


def test_json_goes_to_stdout_alone(agent: Agent, capsys: pytest.CaptureFixture[str]) -> None:
    assert attempt(agent(), "--json") == 0
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert report["decision"]["status"] == "passed"
    assert {row["state"] for row in report["evidence"] if row["type"] == "tool_lifecycle"} == {
        "requested",
        "dispatched",
        "completed",
    }
    assert "PASS shop" in told.err


def test_the_interface_names_every_path_that_is_read_conditions_included(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert flowproof(["contract", "interface", "contract.yml"]) == 0
    told = capsys.readouterr().out
    assert "- `notes`" in told
    assert "- `reviewed`" in told
    assert '"required"' in told


def test_a_starter_passes_and_nothing_is_overwritten(shop: Path) -> None:
    assert flowproof(["contract", "init", "new/first.yml"]) == 0
    text = (shop / "new" / "first.yml").read_text().replace("python3", sys.executable)
    (shop / "new" / "first.yml").write_text(text)
    assert flowproof(["contract", "test", "new/first.yml"]) == 0
    assert flowproof(["contract", "init", "new/first.yml"]) == 2


def test_checking_explains_a_contract_and_runs_nothing(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowproof(["contract", "check", "contract.yml", "--explain"]) == 0
    told = capsys.readouterr().out
    assert "tools.arguments[0]: refund where $amount equals result(order).amount" in told
    assert reports(shop) == []


def test_an_enforced_contract_refuses_before_dispatch(agent: Agent, shop: Path) -> None:
    contract = shop / "contract.yml"
    contract.write_text(contract.read_text() + "enforcement: { preDispatch: true }\n")
    assert attempt(agent()) == 0
    assert attempt(agent('call("order"); call("refund", amount=5)')) == 3
    refused = json.loads(reports(shop)[-1].read_text())
    states = [(row["tool"], row["state"]) for row in refused["evidence"] if row["type"] == "tool_lifecycle"]
    assert states[-2:] == [("refund", "requested"), ("refund", "denied")]
    ids = [found["id"] for found in refused["decision"]["findings"]]
    assert "dispatch.authorization_denied" in ids
    assert "runtime.execution" not in ids


def test_github_is_told_in_its_own_words(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert attempt(agent('call("wipe"); send(type="final", status="completed", output={"refunded": 1})')) == 3
    assert "::error title=tool.forbidden::" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_adapter_behind(number: int, agent: Agent, shop: Path) -> None:
    command = agent("open('pid', 'w').write(str(__import__('os').getpid())); time.sleep(60)")
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from flowproof_runner.entry import main; main()",
            "contract",
            "test",
            "contract.yml",
            "--",
            *command,
        ],
        cwd=shop,
        env=environment,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not (shop / "pid").exists() or not (shop / "pid").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    pid = int((shop / "pid").read_text())
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert b"interrupted" in stderr
    assert process.returncode != 0
    assert not psutil.pid_exists(pid)
