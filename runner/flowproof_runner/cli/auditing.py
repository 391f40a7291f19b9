"""From the folder and the run that the user named to the audit."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_runner.controls import controls, records
from flowproof_runner.controls.audit import Declared, audit
from flowproof_runner.records import runs
from flowproof_runner.report import audit as report
from flowproof_runner.report import style
from flowproof_runner.report.style import Style
from flowproof_runner.spec.file import LoadedSpec, load
from flowproof_runner.targets.specs import collect


class NothingToAudit(FlowproofError):
    """There is no control, or no such run."""


@dataclass(frozen=True, slots=True)
class Audited:
    """An audit in both its forms."""

    text: str
    json: str
    exit_code: int


def audited(folder: Path, since: str | None) -> Audited:
    """Audit the controls of the specs in `folder` by the records below it, or below where flowproof was started.

    Raises NothingToAudit if no spec has a control or `since` names no run; SpecError if a spec cannot be read: its
    control could not be told from a lost one.
    """
    specs = [load(path) for path in collect((folder,))]
    controls.refuse_duplicates(specs)
    declared = [one for spec in specs if (one := _declared(spec)) is not None]
    root = _root(folder)
    found = records.read(root)
    run = _run(since, root, found.found) if since is not None else None
    if not declared and run is None:
        raise NothingToAudit(f"no spec in {str(folder)!r} has a control: add `control: {{id: ..., title: ...}}` to one")
    result = audit(declared, found.found, found.appeared, run)
    dress = Style(style.wanted(os.environ, sys.stdout.isatty()))
    return Audited(
        report.render(result, found.unreadable, dress), report.as_json(result, found.unreadable), result.exit_code
    )


def _root(folder: Path) -> Path:
    """Where the records are: below the folder, if flowproof was started there, else below the current one."""
    below = runs.root_of(folder, os.environ)
    return below if below.is_dir() else runs.root_of(Path.cwd(), os.environ)


def _declared(spec: LoadedSpec) -> Declared | None:
    control = spec.spec.control
    return Declared(control.id, control.title, str(spec.path), spec.digest) if control else None


def _run(since: str, root: Path, found: Sequence[records.Record]) -> str:
    folder = next((path for path in (root / since, Path(since)) if path.is_dir()), None)
    name = folder.resolve().name if folder else since
    if not any(record.run == name for record in found):
        raise NothingToAudit(f"--since {since!r}: no run of that id with a control's record in {str(root)!r}")
    return name
