"""From what the user named to the traces that are meant."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_runner.flow import cassette
from flowproof_runner.records import runs


class NothingToShow(FlowproofError):
    """The target is no trace, spec or run."""


def find(target: Path | None, start: Path, shell: Mapping[str, str]) -> Path:
    """The trace or run folder meant by a trace, cassette, spec, run folder or run id; None: the latest run.

    Raises NothingToShow if there is none.
    """
    root = runs.root_of(start, shell)
    for candidate in [target, root / target] if target else [root / runs.LATEST]:
        if candidate.exists():
            return cassette.path_of(candidate) if candidate.suffix in (".yaml", ".yml") else candidate
    if target is None:
        raise NothingToShow(f"no run yet in {str(root)!r}: flowproof run SPEC, or name a trace, spec or run")
    raise NothingToShow(f"{str(target)!r} is no trace, spec, run folder or run id")


def traces(found: Path) -> tuple[Path, ...]:
    """The traces in what was found, in the order of their flows; none in a run that left none."""
    if not found.is_dir():
        return (found,)
    return tuple(sorted([*found.glob("trace.json"), *found.glob("*/trace.json")]))
