"""A folder for one run, at the same path every time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flowproof_runner.habitat.ground import claimed


def test_two_runs_after_one_another_have_the_same_path() -> None:
    with claimed("ground test") as first:
        assert first.name == "ground-test"
    with claimed("ground test") as second:
        pass
    assert first == second
    assert not first.exists()


def test_two_runs_beside_one_another_do_not_share_it() -> None:
    with claimed("beside") as first, claimed("beside") as second:
        assert (first.name, second.name) == ("beside", "beside-2")
        (first / "mine").touch()
        assert list(second.iterdir()) == []


def test_what_a_killed_run_left_is_not_found() -> None:
    with claimed("left") as folder:
        pass
    folder.mkdir()
    (folder / "home").mkdir()
    (folder / "home" / "state").write_text("old")
    with claimed("left") as again:
        assert again == folder
        assert list(again.iterdir()) == []


def test_read_only_folders_are_removed_too(tmp_path: Path) -> None:
    with claimed("read-only") as folder:
        cache = folder / "cache" / "module"
        cache.mkdir(parents=True)
        (cache / "file").touch()
        (folder / "link").symlink_to(tmp_path)
        cache.chmod(0o500)
        cache.parent.chmod(0o500)
    assert not folder.exists()
    assert tmp_path.exists()


def test_only_its_owner_may_look_inside() -> None:
    with claimed("private") as folder:
        assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["", "...", "a" * 300, "ü/../x"])
def test_any_name_gives_a_short_plain_one(name: str) -> None:
    with claimed(name) as folder:
        assert len(os.fsencode(folder.name)) <= 40
        assert folder.parent.name.startswith("flowproof")
