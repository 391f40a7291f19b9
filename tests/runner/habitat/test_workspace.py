"""A copy of a fixture folder is the same in all an agent can see, whoever makes it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from flowproof_runner.drivers.base import DriverError
from flowproof_runner.habitat.workspace import STAMP, copied, repository

PATH = os.environ["PATH"]


@pytest.fixture
def fixture(tmp_path: Path) -> Path:
    folder = tmp_path / "fixture"
    (folder / "src").mkdir(parents=True)
    (folder / "hello.txt").write_text("hello\n")
    (folder / "src" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "src" / "run.sh").chmod(0o744)
    (folder / "link").symlink_to("hello.txt")
    return folder


def head(folder: Path, **env: str) -> str:
    done = subprocess.run(
        ["git", "log", "--format=%H %an <%ae> %aI %s"], cwd=folder, env={"PATH": PATH, **env}, capture_output=True
    )
    return done.stdout.decode()


def test_times_and_modes_are_fixed(fixture: Path, tmp_path: Path) -> None:
    fixture.joinpath("hello.txt").chmod(0o600)
    copied(fixture, tmp_path / "copy", "agent.workspace")
    found = {p.relative_to(tmp_path / "copy"): p.lstat() for p in (tmp_path / "copy").rglob("*")}
    assert {int(stat.st_mtime) for stat in found.values()} == {STAMP}
    assert found[Path("hello.txt")].st_mode & 0o777 == 0o644
    assert found[Path("src/run.sh")].st_mode & 0o777 == 0o755
    assert (tmp_path / "copy" / "link").is_symlink()


def test_the_commit_does_not_depend_on_who_makes_it_or_when(
    fixture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = set()
    for number, settings in enumerate(("", "[user]\nname = Ann\n[core]\nautocrlf = true\n[init]\ndefaultBranch = x\n")):
        home = tmp_path / f"home{number}"
        home.mkdir()
        (home / ".gitconfig").write_text(settings)
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("GIT_AUTHOR_NAME", f"author {number}")
        copy = tmp_path / f"copy{number}"
        copied(fixture, copy, "agent.workspace")
        repository(copy, PATH)
        hashes.add(head(copy))
        status = subprocess.run(["git", "status", "--porcelain"], cwd=copy, capture_output=True, check=True)
        assert status.stdout == b""
    (only,) = hashes
    assert only.endswith("flowproof <flowproof@example.invalid> 2026-01-01T00:00:00+00:00 Initial commit\n")


def test_another_fixture_is_another_commit(fixture: Path, tmp_path: Path) -> None:
    heads = []
    for text in ("hello\n", "hullo\n"):
        (fixture / "hello.txt").write_text(text)
        copy = tmp_path / text.strip()
        copied(fixture, copy, "agent.workspace")
        repository(copy, PATH)
        heads.append(head(copy))
    assert heads[0] != heads[1]


def test_an_empty_folder_has_a_commit_too(tmp_path: Path) -> None:
    repository(tmp_path, PATH)
    assert head(tmp_path).endswith("Initial commit\n")


def test_what_is_no_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"agent\.workspace: .*nowhere' is not a folder"):
        copied(tmp_path / "nowhere", tmp_path / "copy", "agent.workspace")


def test_a_fixture_that_is_a_repository_is_not_made_one_again(fixture: Path) -> None:
    repository(fixture, PATH)
    with pytest.raises(DriverError, match="is a git repository already"):
        repository(fixture, PATH)


def test_a_machine_without_git_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="git, which is not installed"):
        repository(tmp_path, str(tmp_path))
