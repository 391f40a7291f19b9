"""Run folders sort by time, are private, and do not pile up."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flowproof_runner.records.runs import RunsError, create

NOW = datetime(2026, 12, 2, 6, 45, 12, tzinfo=UTC)


def test_a_run_has_a_private_folder_named_by_its_start(tmp_path: Path) -> None:
    run = create(tmp_path, {}, NOW)
    assert run.path.parent == tmp_path / ".flowproof/runs"
    assert run.id.startswith("20261202T064512Z-")
    assert run.path.stat().st_mode & 0o777 == 0o700


def test_two_runs_of_one_second_do_not_share_a_folder(tmp_path: Path) -> None:
    assert create(tmp_path, {}, NOW).path != create(tmp_path, {}, NOW).path


def test_latest_points_at_the_newest(tmp_path: Path) -> None:
    create(tmp_path, {}, NOW)
    newest = create(tmp_path, {}, NOW + timedelta(seconds=1))
    assert os.readlink(tmp_path / ".flowproof/runs/latest") == newest.id


def test_only_the_newest_runs_are_kept_and_strangers_stay(tmp_path: Path) -> None:
    (tmp_path / ".flowproof/runs/mine").mkdir(parents=True)
    runs = [create(tmp_path, {"FLOWPROOF_KEEP_RUNS": "2"}, NOW + timedelta(seconds=i)) for i in range(4)]
    left = {path.name for path in (tmp_path / ".flowproof/runs").iterdir()}
    assert left == {"mine", "latest", ".gitignore", runs[2].id, runs[3].id}


def test_a_clock_that_went_back_does_not_remove_the_run_that_starts(tmp_path: Path) -> None:
    for i in range(3):
        create(tmp_path, {"FLOWPROOF_KEEP_RUNS": "2"}, NOW + timedelta(seconds=i))
    assert create(tmp_path, {"FLOWPROOF_KEEP_RUNS": "2"}, NOW - timedelta(days=1)).path.is_dir()


def test_runs_are_kept_out_of_version_control(tmp_path: Path) -> None:
    create(tmp_path, {}, NOW)
    assert (tmp_path / ".flowproof/runs/.gitignore").read_text() == "*\n"


def test_the_place_may_be_chosen(tmp_path: Path) -> None:
    assert create(tmp_path, {"FLOWPROOF_RUNS_DIR": str(tmp_path / "else")}, NOW).path.parent == tmp_path / "else"


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "²"])
def test_a_wrong_number_of_runs_to_keep_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(RunsError, match="give how many runs to keep, a whole number from 1"):
        create(tmp_path, {"FLOWPROOF_KEEP_RUNS": value}, NOW)


def test_a_folder_that_cannot_be_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / ".flowproof").write_text("a file is in the way")
    with pytest.raises(RunsError) as caught:
        create(tmp_path, {}, NOW)
    assert str(tmp_path / ".flowproof/runs") in str(caught.value)
    assert "set FLOWPROOF_RUNS_DIR to a folder that can be written" in str(caught.value)


@pytest.mark.parametrize(
    "spec, folder",
    [
        ("booking.flow.yaml", "01-booking"),
        ("a b/ü.flow.yaml", "01-flow"),
        ("..flow.yaml", "01-flow"),
        ("x" * 300 + ".flow.yaml", "01-" + "x" * 60),
    ],
)
def test_a_flows_folder_is_named_after_its_spec(tmp_path: Path, spec: str, folder: str) -> None:
    path = create(tmp_path, {}, NOW).flow(0, Path(spec))
    assert (path.name, path.is_dir(), path.stat().st_mode & 0o777) == (folder, True, 0o700)
