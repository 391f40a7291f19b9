"""The addon files of suites: loaded here for their dialects, and into the boundary for that and their hooks."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from flowproof_addons import FlowproofError
from flowproof_addons.userfile import AddonFileError, load
from flowproof_runner import targets
from flowproof_runner.report import json
from flowproof_runner.spec.problems import SpecError
from flowproof_runner.suite import Suite, Suites


class ExtensionError(FlowproofError):
    """An addon file of a suite cannot be loaded."""


class Host(Protocol):
    """Where addon files are loaded besides: the boundary."""

    def load(self, addon: Path) -> None:
        """Let a file in. Raises FlowproofError if it cannot be."""
        ...


def admit(suite: Suite, host: Host | None = None) -> None:
    """Load a suite's addon files, each once a process. Raises ExtensionError with the place that names the file."""
    for path in suite.addons:
        try:
            load(path)
        except AddonFileError as error:
            raise ExtensionError(f"{suite.where('addons')}: {error}") from error
        if host is not None:
            host.load(path)


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
    return (folder / "report.json").is_file() and bool(targets.traces(folder))
