"""Opens mitmweb on traces, and keeps it open."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from flowproof_runner.boundary.client import Boundary
from flowproof_runner.boundary.process import BoundaryProcess
from flowproof_runner.inspect.holding import hold
from flowproof_runner.inspect.web import Web
from flowproof_runner.report import words
from flowproof_runner.targets.extensions import admit_for
from flowproof_runner.targets.traces import NothingToShow, find, traces


def inspect(named: Sequence[Path], web: Web, start: Path, shell: Mapping[str, str]) -> None:
    """Show all that was named until the user ends it.

    Raises FlowproofError if something named is nothing to show, or cannot be read.
    """
    found = [find(target, start, shell) for target in named or (None,)]
    shown = [trace for each in found for trace in traces(each)]
    if not shown:
        raise NothingToShow(f"{str(found[0])!r} holds no trace: nothing crossed in that run")
    with (
        tempfile.TemporaryDirectory(prefix="flowproof-") as folder,
        BoundaryProcess(Path(folder), web=True, options=web.options()) as process,
        Boundary(process) as boundary,
    ):
        for each in found:
            admit_for(each, boundary)
        count = sum(boundary.show(trace, name(trace), several=len(shown) > 1) for trace in shown)
        told = f"{words.number(count, 'request')} of {words.number(len(shown), 'trace')}"
        print(f"{told} in mitmweb", flush=True)
        hold(boundary, sys.stdout)


def name(trace: Path) -> str:
    """What a trace is called in the list: `booking` for `specs/booking.trace.json` and for `01-booking/trace.json`."""
    stem = trace.parent.name if trace.name == "trace.json" else trace.name.removesuffix(".trace.json")
    stem = stem.removesuffix(".json").lstrip("0123456789").lstrip("-") or stem
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in stem).strip("-.") or "trace"
