"""The tutorial, followed word by word: an ordinary user, an empty folder, an empty home, nothing but flowproof."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e import pages
from tests.e2e.ordinary import NOBODY, ordinary
from tests.e2e.test_commands import TUTORIAL, with_free_ports

PROGRAMS = {
    "pip": '#!/bin/sh\n[ "$*" = "install uv" ]\n',
    "uv": '#!/bin/sh\n[ "$*" = "tool install $HOME/flowproof" ]\n',
}
"""What asks the network for what is here already."""


@pytest.fixture
def place() -> Iterator[Path]:
    """Below /tmp, since pytest's own folders let nobody else in."""
    place = Path(f"/tmp/flowproof-newcomer-{os.getpid()}")
    place.mkdir()
    try:
        yield place
    finally:
        shutil.rmtree(place)


def environment(place: Path) -> dict[str, str]:
    """The user's: an empty home, Python, flowproof, and nothing flowproof could be told by."""
    programs, home = place / "bin", place / "home"
    programs.mkdir()
    home.mkdir()
    for name, script in PROGRAMS.items():
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    (programs / "flowproof").symlink_to(Path(sys.prefix) / "bin" / "flowproof")
    (programs / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    return {"HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin", "USER": "newcomer"}


def test_it_leads_an_ordinary_user_with_an_empty_home_to_a_green_replay(place: Path) -> None:
    folder, env = place / "empty", environment(place)
    folder.mkdir()
    steps = pages.steps(with_free_ports(TUTORIAL.read_text()))
    as_one = ordinary()
    if as_one:
        for owned in (folder, Path(env["HOME"])):
            os.chown(owned, NOBODY, NOBODY)
    pages.follow(steps, folder, env, as_one)
    assert list(Path(env["HOME"]).iterdir()) == []
    assert {path.owner() for path in folder.rglob("*")} == {folder.owner()}


def test_every_command_of_the_tutorial_is_run() -> None:
    text = TUTORIAL.read_text()
    assert len(pages.commands(text)) == len(re.findall(r"^\$ ", text, re.MULTILINE)) > 10


def test_somebody_else_may_look_and_not_touch() -> None:
    """The guilty fixture of this file: what runs as the newcomer is no root."""
    if not (words := ordinary()):
        pytest.skip("the user is an ordinary one")
    script = f"id -u; test -r {sys.prefix}/pyvenv.cfg && ! touch {sys.prefix}/x"
    done = subprocess.run([*words, "sh", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{NOBODY}\n"), done.stderr
