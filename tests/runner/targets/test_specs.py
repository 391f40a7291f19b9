"""Specs are found in files and folders; what holds none is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowproof_runner.targets.specs import NothingToRun, collect


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "specs/b.flow.yaml",
        "specs/a.flow.yml",
        "specs/deep/c.flow.yaml",
        "specs/suite.yaml",
        "specs/b.trace.json",
        "specs/.hidden/d.flow.yaml",
        "specs/node_modules/e.flow.yaml",
        "other.yaml",
        "notes.txt",
        "empty/readme.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "paths, specs",
    [
        (["specs"], ["specs/a.flow.yml", "specs/b.flow.yaml", "specs/deep/c.flow.yaml"]),
        (["specs/b.flow.yaml", "specs/deep"], ["specs/b.flow.yaml", "specs/deep/c.flow.yaml"]),
        (["other.yaml"], ["other.yaml"]),
        (["specs/b.flow.yaml", "./specs/deep/../b.flow.yaml"], ["specs/b.flow.yaml"]),
        (["specs/deep", "specs"], ["specs/deep/c.flow.yaml", "specs/a.flow.yml", "specs/b.flow.yaml"]),
    ],
)
def test_files_and_folders_give_their_specs_each_once(tree: Path, paths: list[str], specs: list[str]) -> None:
    assert [str(spec) for spec in collect([Path(path) for path in paths])] == specs


@pytest.mark.parametrize(
    "path, message",
    [
        ("gone", "'gone' does not exist: give a spec"),
        ("empty", "no spec in 'empty': specs are files named"),
        ("specs/b.trace.json", r"is a cassette: give its spec \(b.flow.yaml\)"),
        ("notes.txt", "'notes.txt' is not a spec"),
    ],
)
def test_a_path_without_a_spec_is_an_error(tree: Path, path: str, message: str) -> None:
    with pytest.raises(NothingToRun, match=message):
        collect([Path("specs"), Path(path)])
