"""The controls in the records of past runs, read from their `report.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.controls.controls import ControlRow

REPORT = "report.json"


@dataclass(frozen=True, slots=True)
class Record:
    """What one run found about one control."""

    run: str
    """The run's id; ids sort by start."""
    spec: str
    phase: str
    row: ControlRow


@dataclass(frozen=True, slots=True)
class Records:
    """All there are."""

    found: tuple[Record, ...]
    """Oldest first."""
    appeared: Mapping[str, str] = field(default_factory=dict)
    """Spec to the newest run that it was part of, be it without a record: skipped, or unreadable."""
    unreadable: tuple[str, ...] = ()
    """Records that could not be read, with the reason."""


def read(root: Path) -> Records:
    """Read every run below `root`; an unfinished run has no record and is passed over."""
    found: list[Record] = []
    appeared: dict[str, str] = {}
    unreadable: list[str] = []
    for folder in sorted(path for path in _folders(root) if (path / REPORT).is_file()):
        try:
            flows = _flows(folder)
            found += _records(folder.name, flows)
            appeared |= {str(flow.get("spec")): folder.name for flow in flows}
        except (OSError, ValueError) as error:
            unreadable.append(f"{folder / REPORT} is no run record this flowproof can read: {_short(error)}")
    return Records(tuple(found), appeared, tuple(unreadable))


def holders(folders: Sequence[Path]) -> set[Path]:
    """The runs that hold the newest record of some control: without them its evidence would be lost."""
    newest: dict[str, Path] = {}
    for folder in sorted(folders):
        for id in _ids(folder):
            newest[id] = folder
    return set(newest.values())


def _folders(root: Path) -> Iterable[Path]:
    return (path for path in root.iterdir() if path.is_dir() and not path.is_symlink()) if root.is_dir() else ()


def _ids(folder: Path) -> list[str]:
    try:
        return [record.row.id for record in _records(folder.name, _flows(folder))]
    except (OSError, ValueError):
        return []


def _flows(folder: Path) -> list[dict[str, JsonValue]]:
    report = json.loads((folder / REPORT).read_bytes())
    flows = report.get("flows") if isinstance(report, dict) else None
    if not isinstance(flows, list):
        raise ValueError("it has no flows")
    return [flow for flow in flows if isinstance(flow, dict)]


def _records(run: str, flows: Iterable[dict[str, JsonValue]]) -> list[Record]:
    return [record for flow in flows if (record := _record(run, flow)) is not None]


def _record(run: str, flow: dict[str, JsonValue]) -> Record | None:
    control = flow.get("control")
    if not isinstance(control, dict) or "verdict" not in control:
        return None
    return Record(run, str(flow.get("spec")), str(flow.get("phase")), ControlRow.model_validate(control))


def _short(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error).split("\n")[0]
