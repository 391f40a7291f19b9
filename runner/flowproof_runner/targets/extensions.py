"""The addon files that what the user named was recorded with: without them its turns are of a dialect nobody knows."""

from __future__ import annotations

from pathlib import Path

from flowproof_runner.reading.problems import SpecError
from flowproof_runner.report import json
from flowproof_runner.suite.extensions import ExtensionError, Host, admit
from flowproof_runner.suite.file import Suites
from flowproof_runner.targets.traces import traces


def admit_for(found: Path, host: Host | None = None) -> None:
    """Load what is needed to read a cassette, or the traces of a run folder. What cannot be loaded is not missed:
    its turns are shown as of a dialect nobody knows."""
    suites = Suites()
    for folder in _folders(found):
        try:
            admit(suites.beside(folder / "x"), host)
        except (SpecError, ExtensionError):
            continue


def _folders(found: Path) -> list[Path]:
    """Where the specs lie that a cassette or a run belongs to."""
    report = next((p / "report.json" for p in (found, found.parent, found.parent.parent) if _is_run(p)), None)
    if report is None:
        return [found.parent]
    try:
        run = json.read(report.read_bytes())
    except (OSError, ValueError):
        return []
    return list(dict.fromkeys(Path(flow.spec).parent for flow in run.flows))


def _is_run(folder: Path) -> bool:
    return (folder / "report.json").is_file() and bool(traces(folder))
