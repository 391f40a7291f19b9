"""From what the user named to the difference between two traces."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_addons.dialects.registry import default
from flowproof_addons.trace import file
from flowproof_runner.records.story import tell
from flowproof_runner.report import style
from flowproof_runner.report.style import Style
from flowproof_runner.targets.extensions import admit_for
from flowproof_runner.targets.traces import find, traces
from flowproof_runner.trajectory import render
from flowproof_runner.trajectory.change import Difference
from flowproof_runner.trajectory.difference import difference
from flowproof_runner.trajectory.model import read


class NotOneTrace(FlowproofError):
    """A run of several flows, or of none, was named where one trace is meant."""


def diff(before: Path, after: Path) -> tuple[str, bool]:
    """What to print, and whether anything differs."""
    found = between(_one(before), _one(after))
    if not found:
        return "no difference in what the agent does or is told\n", False
    dress = Style(style.wanted(os.environ, sys.stdout.isatty()))
    return render.text([(change, ()) for change in found.changes], dress), True


def between(before: Path, after: Path) -> Difference:
    """How two traces differ. Raises FlowproofError if one cannot be read."""
    registry = default()
    for path in (before, after):
        admit_for(path)
    first, second = (read(tell(file.load(path), registry)) for path in (before, after))
    return difference(first, second)


def _one(target: Path) -> Path:
    found = traces(find(target, Path.cwd(), os.environ))
    if len(found) != 1:
        held = ", ".join(str(path) for path in found) or "none"
        raise NotOneTrace(f"{str(target)!r} holds {len(found)} traces ({held}): name one")
    return found[0]
