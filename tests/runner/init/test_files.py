"""`flowproof init` writes what is missing and overwrites nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from flowproof_runner import entry
from flowproof_runner.init.agent import EXAMPLE, found
from flowproof_runner.init.files import SPEC, WORKFLOW, InitError, init
from flowproof_runner.spec.file import load


def test_the_spec_it_writes_is_right(tmp_path: Path) -> None:
    init(tmp_path, 'run-me --say "two words"')
    assert load(tmp_path / SPEC).spec.agent.command == ("run-me", "--say", "two words")


def test_the_workflow_it_writes_is_yaml_that_replays(tmp_path: Path) -> None:
    init(tmp_path)
    steps = yaml.safe_load((tmp_path / WORKFLOW).read_text())["jobs"]["replay"]["steps"]
    assert any(str(step.get("run")).startswith(f"flowproof run {SPEC.parent}") for step in steps)


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    init(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {step.done for step in init(tmp_path, "another")} == {"kept"}
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_is_there_stays_and_lines_are_added(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"dist/\r\nnode_modules")
    (tmp_path / ".gitattributes").write_text("*.trace.json -diff\n")
    (tmp_path / SPEC).parent.mkdir()
    (tmp_path / SPEC).write_text("mine")
    assert [step.done for step in init(tmp_path)] == ["kept", "wrote", "kept", "added a line to"]
    assert (tmp_path / SPEC).read_text() == "mine"
    assert (tmp_path / ".gitignore").read_bytes() == b"dist/\r\nnode_modules\n.flowproof/\n"
    assert (tmp_path / ".gitattributes").read_text() == "*.trace.json -diff\n"


@pytest.mark.parametrize(
    ("folder", "first"), [(".", "flowproof doctor --spec flows/first.flow.yaml"), ("my project", "cd 'my project'")]
)
def test_what_to_do_next_can_be_typed_as_it_stands(
    folder: str, first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert entry.run(["init", folder, "--agent", "true"]) == 0
    printed = capsys.readouterr().out
    assert f"wrote {Path(folder) / SPEC}\n" in printed
    assert f"\nnext: {first}\n" in printed
    assert printed.endswith("      flowproof record flows/first.flow.yaml\n")
    assert load(tmp_path / folder / SPEC).spec.agent.command == ("true",)


def test_a_folder_that_cannot_be_made_is_an_error_for_people(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InitError, match="cannot be written"):
        init(tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("package.json", '{"scripts": {"start": "node ."}}', "npm run --silent start"),
        ("package.json", '{"scripts": {"start": "x", "agent": "y"}}', "npm run --silent agent"),
        ("package.json", "{", None),
        ("package.json", "[]", None),
        ("pyproject.toml", '[project]\nname = "x"\n[project.scripts]\nmy-agent = "x:main"', "my-agent"),
        ("pyproject.toml", "=", None),
        ("main.py", "", "python3 main.py"),
        ("index.js", "", "node index.js"),
        ("readme.txt", "", None),
    ],
)
def test_the_command_is_what_the_projects_files_tell(tmp_path: Path, name: str, text: str, command: str | None) -> None:
    (tmp_path / name).write_text(text)
    assert found(tmp_path) == command
    init(tmp_path)
    assert (command or EXAMPLE) in (tmp_path / SPEC).read_text()
