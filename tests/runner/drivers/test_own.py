"""What an agent lacks, and flowproof's own environment has."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flowproof_runner.drivers import own
from flowproof_runner.drivers.base import DriverError, Task
from flowproof_runner.drivers.command import Command

LACKS = "ModuleNotFoundError: No module named 'openai'"


@pytest.fixture
def environments(tmp_path: Path) -> tuple[Path, Path]:
    """flowproof's own bin folder and another one, each with a python3."""
    folders = tmp_path / "venv" / "bin", tmp_path / "usr" / "bin"
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "python3").symlink_to(sys.executable)
    (folders[0] / "agent").touch(0o755)
    return folders


def test_another_python_that_lacks_a_module_is_named(environments: tuple[Path, Path]) -> None:
    venv, usr = environments
    said = own.python(["python3", "agent.py"], {"PATH": str(usr)}, ["Traceback", LACKS], venv)
    assert said is not None
    assert said.startswith(
        f"python3 is {usr / 'python3'} here, which lacks a module; flowproof itself runs in {venv.parent}"
    )
    assert "uv run flowproof" in said


@pytest.mark.parametrize(
    ("word", "path", "printed"),
    [
        ("python3", "venv/bin", LACKS),  # it is ours
        ("python3", "usr/bin", "ValueError: wrong"),  # it lacks nothing
        ("node", "usr/bin", LACKS),
        ("/usr/bin/python3", "usr/bin", LACKS),  # the user chose it
        ("python3", "nowhere", LACKS),
    ],
)
def test_otherwise_nothing_is_said(
    word: str, path: str, printed: str, environments: tuple[Path, Path], tmp_path: Path
) -> None:
    assert own.python([word], {"PATH": str(tmp_path / path)}, [printed], environments[0]) is None


def test_a_program_that_is_only_beside_flowproof_is_found_by_the_message(environments: tuple[Path, Path]) -> None:
    assert f"it is in {environments[0]}" in own.program("agent", environments[0])
    assert own.program("agnet", environments[0]) == own.program("./agent", environments[0]) == ""


def test_the_driver_says_it(tmp_path: Path, make_task: Callable[..., Task]) -> None:
    (tmp_path / "python3").symlink_to("/bin/sh")
    script = tmp_path / "agent.sh"
    script.write_text(f'echo "{LACKS}" >&2; exit 1')
    result = Command(("python3", str(script)), tmp_path, {"PATH": str(tmp_path)}).run(make_task())
    assert [note.split(",")[0] for note in result.notes] == [f"python3 is {tmp_path / 'python3'} here"]

    with pytest.raises(DriverError, match=f"it is in {own.OWN}"):
        Command(("mitmdump",), tmp_path, {"PATH": str(tmp_path)}).run(make_task())
