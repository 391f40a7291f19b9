"""What a run's agent finds around it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flowproof_runner.drivers.base import Addresses, DriverError
from flowproof_runner.drivers.handles import handles
from flowproof_runner.habitat.habitat import Wanted, settled
from flowproof_runner.spec.habitat import Clock, Home, Workspace

SHELL = {
    "PATH": os.environ["PATH"],
    "HOME": "/home/ann",
    "XDG_CONFIG_HOME": "/home/ann/.config",
    "LC_TIME": "de_DE.UTF-8",
    "LANG": "de_DE.UTF-8",
    "TZ": "Africa/Nairobi",
    "CODEX_HOME": "/home/ann/.codex",
    "KEPT": "yes",
}


def test_nothing_asked_for_changes_nothing(tmp_path: Path) -> None:
    with settled(Wanted("n", tmp_path), tmp_path, SHELL) as habitat:
        assert (habitat.directory, habitat.root) == (tmp_path, None)
        assert habitat.shell(SHELL) == SHELL
        assert habitat.overrides(SHELL, {"A": "b"}) == {"A": "b"}
        assert habitat.places == {"flowproof.spec_dir": str(tmp_path)}


def test_an_isolated_home_says_nothing_of_the_user(tmp_path: Path) -> None:
    with settled(Wanted("n", tmp_path, Home()), tmp_path, SHELL) as habitat:
        shell = habitat.shell(SHELL)
        assert habitat.root is not None
        assert shell["HOME"] == habitat.places["flowproof.home"] == str(habitat.root / "home")
        assert shell["LANG"] == shell["LC_ALL"] == "C.UTF-8"
        assert (shell["TZ"], shell["PYTHONHASHSEED"], shell["KEPT"]) == ("UTC", "0", "yes")
        assert shell["PATH"] == SHELL["PATH"]
        assert [name for name, value in shell.items() if "ann" in value or "de_DE" in value] == []
        assert os.listdir(shell["HOME"]) == [".gitconfig"]
        assert habitat.directory == tmp_path
    assert not habitat.root.exists()


def test_what_the_spec_sets_wins(tmp_path: Path) -> None:
    with settled(Wanted("n", tmp_path, Home(), None, Clock(at="2026-01-01T00:00:00Z")), tmp_path, SHELL) as habitat:
        own = habitat.overrides(SHELL, {"TZ": "Asia/Tokyo", "PYTHONPATH": "src"})
        assert own["TZ"] == "Asia/Tokyo"
        assert own["PYTHONPATH"] == f"{habitat.root}/clock:src"


def test_files_of_the_home_are_written_with_the_boundarys_address(tmp_path: Path) -> None:
    (tmp_path / "seed").mkdir()
    (tmp_path / "seed" / "rc").write_text("${flowproof.proxy_url} as it is")
    home = Home.model_validate({"from": "seed", "files": {".x/config": "url = ${flowproof.proxy_url}"}})
    with settled(Wanted("n", tmp_path, home), tmp_path, SHELL) as habitat:
        habitat.furnish(handles("p", Addresses("http://127.0.0.1:7"), tmp_path, habitat.places))
        at = Path(habitat.places["flowproof.home"])
        assert (at / ".x" / "config").read_text() == "url = http://127.0.0.1:7/v1"
        assert (at / "rc").read_text() == "${flowproof.proxy_url} as it is"


def test_a_workspace_is_the_directory_and_made_anew(tmp_path: Path) -> None:
    (tmp_path / "fixture").mkdir()
    (tmp_path / "fixture" / "a.txt").write_text("a")
    wanted = Wanted("n", tmp_path, workspace=Workspace.model_validate({"from": "fixture", "git": True}))
    listings = []
    for _ in range(2):
        with settled(wanted, tmp_path, SHELL) as habitat:
            listings.append((habitat.directory, sorted(os.listdir(habitat.directory))))
            (habitat.directory / "a.txt").write_text("changed")
            (habitat.directory / "b.txt").touch()
            assert habitat.shell(SHELL)["HOME"] == "/home/ann"
            assert habitat.shell(SHELL)["GIT_AUTHOR_DATE"] == "2026-01-01T00:00:00+00:00"
    assert listings[0] == listings[1]
    assert listings[0][1] == [".git", "a.txt"]
    assert (tmp_path / "fixture" / "a.txt").read_text() == "a"


def test_a_fixture_that_is_not_there_leaves_nothing_behind(tmp_path: Path) -> None:
    wanted = Wanted("absent", tmp_path, workspace=Workspace.model_validate({"from": "fixture"}))
    with pytest.raises(DriverError, match="is not a folder"), settled(wanted, tmp_path, SHELL):
        raise AssertionError("it was entered")
    assert not list(Path("/tmp").glob("flowproof*/absent*"))
