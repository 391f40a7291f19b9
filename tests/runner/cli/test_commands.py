"""Every command: what it prints, where, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowproof_addons import SCRIPT
from flowproof_runner import entry

GOOD = """\
name: Looks it up
app: agent
agent: { command: "agent" }
steps: [ { prompt: Look it up }, { assert_tool_call: lookup } ]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("FLOWPROOF_RUNS_DIR", "GITHUB_ACTIONS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("flowproof 0.")


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["record", "-h"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(arguments) == 0
    assert "Usage: flowproof" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "Usage: flowproof"),
        (["runn"], "No such command 'runn'"),
        (["run"], "Missing argument"),
        (["run", "--jbos", "2", "x"], "No such option"),
        (["run", "gone.flow.yaml"], "flowproof: 'gone.flow.yaml' does not exist: give a spec"),
        (["run", "."], "flowproof: no spec in '.': specs are files named *.flow.yaml"),
        (["run", ".", "-j", "0"], "flowproof: --jobs '0': give how many flows"),
        (["run", ".", "-k", "a and"], "flowproof: -k 'a and': a name is missing"),
        (["run", ".", "--retries", "2"], "flowproof: --retries is refused: a replay is deterministic"),
        (["show"], "flowproof: no run yet in"),
        (["show", "gone"], "flowproof: 'gone' is no trace, spec, run folder or run id"),
        (["schema", "nothing"], "Invalid value"),
    ],
)
def test_wrong_usage_is_one_message_on_stderr_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.run(arguments) == 2
    printed = capsys.readouterr()
    assert message in printed.out + printed.err
    assert "Traceback" not in printed.out + printed.err
    if arguments:
        assert printed.out == ""


def test_the_addon(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["addon"]) == 0
    assert capsys.readouterr().out == f"{SCRIPT}\n"


@pytest.mark.parametrize("kind, title", [("spec", "flowproof spec"), ("report", "RunResult")])
def test_schemas_are_json(kind: str, title: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["schema", kind]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == title


def test_check_of_what_is_right(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.flow.yaml").write_text(GOOD)
    assert entry.run(["check", "."]) == 0
    assert capsys.readouterr().out == "ok     a.flow.yaml · Looks it up · no cassette yet\n"


def test_check_names_everything_wrong_in_all_files_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.flow.yaml").write_text(GOOD)
    (folder / "b.flow.yaml").write_text(GOOD.replace("name:", "nmae:") + "strict: maybe\n")
    (folder / "c.flow.yaml").write_text(GOOD)
    (folder / "c.trace.json").write_text('{"flowproof": 1,')
    assert entry.run(["check", "."]) == 2
    printed = capsys.readouterr()
    assert "ok     a.flow.yaml" in printed.out
    assert [line.split(": ")[0] for line in printed.err.splitlines()] == [
        "b.flow.yaml:1:1",
        "b.flow.yaml:1:1",
        "b.flow.yaml:5:9",
        "c.trace.json:1",
    ]


def test_check_explains_what_is_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pin = "pins: [ { at: 'messages[0].content', match: '\\d+', why: the date } ]\n"
    (folder / "a.flow.yaml").write_text(GOOD + pin + "tools: [ { name: lookup, result: 1 } ]\n")
    assert entry.run(["check", "a.flow.yaml", "--explain"]) == 0
    text = capsys.readouterr().out
    assert "stream and stream_options" in text
    assert "pin: messages[0].content: /\\d+/, the date" in text
    assert "told by the spec instead of the agent's own tools: lookup" in text


def test_a_bug_of_ours_is_one_line_and_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.flow.yaml").write_text(GOOD)
    monkeypatch.setattr("flowproof_runner.check.checking.load", lambda path: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    assert entry.run(["check", "."]) == 2
    error = capsys.readouterr().err
    assert error.startswith(
        "flowproof: this is a bug in flowproof (ZeroDivisionError: division by zero): please report"
    )
    assert "Traceback" not in error
    (written,) = folder.glob("bug-*.txt")
    assert "ZeroDivisionError" in written.read_text()
