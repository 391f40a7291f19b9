"""The agent's workspace: a fixture folder, copied so that two copies are the same in all an agent can see."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from flowproof_runner.drivers.base import DriverError

STAMP = 1_767_225_600
"""2026-01-01T00:00:00Z: when everything in it was made."""
DATE = "2026-01-01T00:00:00+00:00"

GIT = {
    "GIT_AUTHOR_NAME": "flowproof",
    "GIT_AUTHOR_EMAIL": "flowproof@example.invalid",
    "GIT_AUTHOR_DATE": DATE,
    "GIT_COMMITTER_NAME": "flowproof",
    "GIT_COMMITTER_EMAIL": "flowproof@example.invalid",
    "GIT_COMMITTER_DATE": DATE,
}
"""Commits made with these have the same hash every time; the agent's own too."""

_UNCONFIGURED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_PLAIN = ("-c", "core.autocrlf=false", "-c", "commit.gpgSign=false", "-c", "gc.auto=0")


def copied(source: Path, target: Path, key: str) -> None:
    """Copy a folder's files, with fixed times and modes. Raises DriverError, which names the spec's `key`."""
    if not source.is_dir():
        raise DriverError(f"{key}: {str(source)!r} is not a folder: create it, or correct `{key}`")
    try:
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise DriverError(f"{key}: {source} cannot be copied: {error}") from error
    settle(target)


def settle(folder: Path) -> None:
    """Give everything below a folder one time and the modes of a fresh checkout."""
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            _settle(Path(parent, name))
        _settle(Path(parent))


def repository(folder: Path, path: str) -> None:
    """Make a folder a git repository with one commit, whoever runs this. Raises DriverError."""
    if (folder / ".git").exists():
        raise DriverError("agent.workspace: the folder is a git repository already; leave `git: true` out")
    git = _git(folder, path)
    git("init", "--quiet", "--template=", "--initial-branch=main", "--object-format=sha1")
    git("add", "--all", "--force")
    git("commit", "--quiet", "--allow-empty", "--no-verify", "--message=Initial commit")
    settle(folder)
    git("status", "--porcelain")  # tells the index of the new times
    _settle(folder / ".git")


def _git(folder: Path, path: str) -> Callable[..., None]:
    environment = {"PATH": path, "HOME": str(folder), "LC_ALL": "C", **GIT, **_UNCONFIGURED}

    def git(*words: str) -> None:
        try:
            subprocess.run(
                ["git", *_PLAIN, *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
            )
        except FileNotFoundError as error:
            raise DriverError("agent.workspace: git: true needs git, which is not installed") from error
        except subprocess.CalledProcessError as error:
            raise DriverError(f"agent.workspace: git {words[0]} failed: {error.stderr.strip()}") from error

    return git


def _settle(path: Path) -> None:
    if not path.is_symlink():
        runs = path.is_dir() or path.stat().st_mode & 0o100
        path.chmod(0o755 if runs else 0o644)
    os.utime(path, (STAMP, STAMP), follow_symlinks=False)
