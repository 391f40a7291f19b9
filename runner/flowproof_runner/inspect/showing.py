"""From what the user named to the timelines that are meant."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from flowproof_addons.dialects.registry import default
from flowproof_addons.trace import file
from flowproof_runner.contract.recorded import evidence_in
from flowproof_runner.evidence.model import ADAPTER, Decided
from flowproof_runner.flow.tally import tally
from flowproof_runner.report import console, json, style, timeline
from flowproof_runner.report.style import Style
from flowproof_runner.result import RunResult
from flowproof_runner.targets.extensions import admit_for
from flowproof_runner.targets.traces import NothingToShow, find, traces


def show(target: Path | None, *, full: bool) -> str:
    """What there is to see. Raises NothingToShow if there is nothing."""
    dress = Style(style.wanted(os.environ, sys.stdout.isatty()))
    found = find(target, Path.cwd(), os.environ)
    admit_for(found)
    return _run(found, dress, full=full) if found.is_dir() else _trace(found, dress, full=full)


def _trace(path: Path, dress: Style, *, full: bool) -> str:
    trace = file.load(path)
    evidence, counts = evidence_in(trace), tally(trace.exchanges, default(), None)
    calls = sum(event.lane == ADAPTER for event in evidence.of(Decided))
    counts = counts.model_copy(update={"tool_calls": max(counts.tool_calls, calls)})  # an adapter may have no model
    return timeline.render(str(path), trace, evidence, counts, dress, full=full)


def _run(folder: Path, dress: Style, *, full: bool) -> str:
    """Every trace of a run, then how the run ended."""
    parts = [_trace(path, dress, full=full) for path in traces(folder)]
    report = folder / "report.json"
    if report.exists():
        run = _report(report)
        parts += [
            "\n".join(console.line(flow, dress) for flow in run.flows if flow.verdict != "skip")
            + "\n"
            + console.summary(run, dress)
        ]
    if not parts:
        raise NothingToShow(f"{str(folder)!r} holds no trace and no report")
    return "\n".join(parts)


def _report(path: Path) -> RunResult:
    try:
        return json.read(path.read_bytes())
    except (OSError, ValueError) as error:
        raise NothingToShow(f"{str(path)!r} is no report this flowproof can read: {error}") from error
