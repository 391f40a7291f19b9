"""The folders under `.flowproof/runs`: one per invocation, one folder per flow in it."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from flowproof_addons import FlowproofError

RUNS_DIR = "FLOWPROOF_RUNS_DIR"
KEEP_RUNS = "FLOWPROOF_KEEP_RUNS"
LATEST = "latest"

_KEEP = 20
_RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class RunsError(FlowproofError):
    """The run folder cannot be written or is configured wrongly."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One invocation's folder."""

    path: Path
    """Absolute."""

    @property
    def id(self) -> str:
        """Sorts by start: `20261202T064512Z-a1b2c3`."""
        return self.path.name

    def flow(self, index: int, spec: Path) -> Path:
        """Make the folder of the flow at `index` (from 0), named so that a person finds it: `01-booking`."""
        stem = _UNSAFE.sub("-", spec.name.removesuffix(".flow.yaml").removesuffix(".flow.yml"))[:60].strip("-.")
        path = self.path / f"{index + 1:02d}-{stem or 'flow'}"
        _make(path)
        return path


def create(start: Path, shell: Mapping[str, str], now: datetime) -> RunFolder:
    """Make a new run folder below `start` (or in FLOWPROOF_RUNS_DIR), point `latest` at it, remove the oldest.

    Raises RunsError if that is impossible.
    """
    keep = _keep(shell)
    root = root_of(start, shell)
    path = root / f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    _make(path)
    try:
        _ignore(root)
        _point_latest(root, path.name)
        _prune(root, keep, path.name)
    except OSError as error:
        raise _unwritable(root, error) from error
    return RunFolder(path)


def root_of(start: Path, shell: Mapping[str, str]) -> Path:
    """Where runs are kept."""
    return (start / (shell.get(RUNS_DIR) or ".flowproof/runs")).absolute()


def _make(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.mkdir(mode=0o700)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> RunsError:
    return RunsError(
        f"run folder {str(path)!r} cannot be written: {error.strerror or error}; free the space, mend the rights, or"
        f" set {RUNS_DIR} to a folder that can be written"
    )


def _ignore(root: Path) -> None:
    """Keep runs out of version control: they hold what agents printed."""
    file = root / ".gitignore"
    if not file.exists():
        file.write_text("*\n")


def _point_latest(root: Path, name: str) -> None:
    temporary = root / f".latest-{name}"
    with contextlib.suppress(NotImplementedError):
        temporary.symlink_to(name, target_is_directory=True)
        temporary.replace(root / LATEST)


def _prune(root: Path, keep: int, current: str) -> None:
    """Remove all but the newest; never the current one, what is not a run, or a control's newest evidence."""
    runs = sorted(e.name for e in os.scandir(root) if e.is_dir(follow_symlinks=False) and _RUN_ID.fullmatch(e.name))
    if len(runs) <= keep:
        return
    from flowproof_runner.controls import records  # only when there is something to remove

    held = {path.name for path in records.holders([root / name for name in runs])}
    for name in runs[:-keep]:
        if name != current and name not in held:
            shutil.rmtree(root / name, ignore_errors=True)


def _keep(shell: Mapping[str, str]) -> int:
    text = shell.get(KEEP_RUNS, "")
    if not text:
        return _KEEP
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise RunsError(f"{KEEP_RUNS}={text!r}: give how many runs to keep, a whole number from 1")
    return int(text)
