"""A mitmdump that was started before the command line was understood is used, or gone without a trace."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from flowproof_runner.boundary.ahead import Ahead, ahead


def started(runs: Path) -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if str(runs) in _words(child)]


def _words(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.ZombieProcess:  # another test's orphan, adopted and ended
        return ""


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / ".flowproof" / "runs"
    assert started(tmp_path) == []


@pytest.mark.parametrize(
    "arguments",
    [[], ["check", "x"], ["run", "--help"], ["run", "x", "--web"], ["run", "x", "--retries", "1"], ["x", "run"]],
)
def test_only_a_run_or_a_recording_starts_it(arguments: list[str], runs: Path) -> None:
    with ahead(arguments, runs) as found:
        assert found is None
    assert not runs.exists()


def test_what_nobody_took_is_gone_at_once_with_every_folder_it_made(runs: Path) -> None:
    with ahead(["run", "gone"], runs) as found:
        assert isinstance(found, Ahead)
        assert len(started(runs)) == 1
    assert not runs.parent.exists()


def test_who_takes_it_ends_it_and_keeps_its_log(runs: Path) -> None:
    with ahead(["record", "x"], runs) as found:
        assert found is not None
        with found.take(runs / "run" / "boundary") as process:
            assert process.log == runs / "run" / "boundary" / "boundary.log"
    assert [str(path.relative_to(runs)) for path in runs.rglob("*")] == [
        "run",
        "run/boundary",
        "run/boundary/boundary.log",
    ]


def test_a_folder_that_cannot_be_made_is_left_for_others_to_name(tmp_path: Path, runs: Path) -> None:
    (tmp_path / ".flowproof").touch()
    with ahead(["run", "x"], runs) as found:
        assert found is None


def test_what_a_killed_one_left_is_removed_in_time(runs: Path) -> None:
    old, young = runs / ".ahead-1", runs / ".ahead-2"
    for folder in (old, young):
        folder.mkdir(parents=True)
    long_ago = time.time() - 100_000
    os.utime(old, (long_ago, long_ago))
    with ahead(["run", "x"], runs):
        pass
    assert [path.name for path in runs.iterdir()] == [".ahead-2"]
