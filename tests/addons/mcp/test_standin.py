"""The folder of the stand-ins: held while its maker lives, removed by the next one made when it was killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowproof_addons.mcp import standin

MAKE = """
import os, sys
from flowproof_addons.mcp.standin import Folder
made = Folder()
(made.path / "some.sock").touch()
os.utime(made.path, (0, 0))
print(made.path, flush=True)
os.kill(os.getpid(), 9) if sys.argv[1] == "killed" else sys.stdin.read()
"""


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder for temporary files; pytest's own have names too long for sockets below them."""
    folder = Path(tempfile.mkdtemp(prefix="fp-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


def make(base: Path, how: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", MAKE, how]
    environment = {**os.environ, "TMPDIR": str(base)}
    return subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_folder_is_private_short_and_gone_when_it_is_closed(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(base))
    folder = standin.Folder()
    assert folder.path.parent == base and folder.path.stat().st_mode & 0o777 == 0o700
    folder.close()
    folder.close()
    assert list(base.iterdir()) == []


def test_what_a_killed_boundary_left_is_removed_by_the_next_one(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(base))
    with make(base, "killed") as killed, make(base, "living") as living:
        assert killed.stdout and living.stdout
        left, held = Path(killed.stdout.readline().strip()), Path(living.stdout.readline().strip())
        killed.wait()
        own = standin.Folder()
        assert (left.exists(), held.exists(), own.path.exists()) == (False, True, True)
        standin.sweep(base)
        assert own.path.exists(), "its maker lives"
    own.close()
    young = Path(tempfile.mkdtemp(prefix="flowproof_", dir=base))
    others = Path(tempfile.mkdtemp(prefix="flowproof-", dir=base))
    os.utime(others, (0, 0))
    standin.sweep(base)
    assert young.exists() and others.exists(), "just made and not locked yet; not ours"
