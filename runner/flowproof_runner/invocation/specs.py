"""The specs of an invocation, read before anything starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from flowproof_addons.trace.model import Phase
from flowproof_runner.controls.controls import refuse_duplicates
from flowproof_runner.flow import cassette, plan
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.spec.file import LoadedSpec, load
from flowproof_runner.suite.file import Suite, Suites
from flowproof_runner.targets.selection import Selection
from flowproof_runner.targets.specs import NothingToRun


@dataclass(frozen=True, slots=True)
class Given:
    """A spec, or why it cannot be used, and what is to be done with it."""

    path: Path
    loaded: LoadedSpec | SpecError
    phase: Phase
    suite: Suite = field(default_factory=Suite)

    @property
    def name(self) -> str:
        """What the flow is called; empty where the spec is broken."""
        return "" if isinstance(self.loaded, SpecError) else self.loaded.spec.name

    @property
    def ports(self) -> frozenset[int]:
        """The fixed ports it needs."""
        return frozenset() if isinstance(self.loaded, SpecError) else plan.ports(self.loaded)


def given(
    paths: Sequence[Path], command: Literal["run", "record"], *, record_missing: bool, wanted: Selection
) -> tuple[Given, ...]:
    """Read the specs, broken ones too, and leave out what the expression does not select.

    Raises NothingToRun if none is left, DuplicateControl if two claim one control.
    """
    suites = Suites()
    specs = [_read(path, suites, _phase(path, command, record_missing)) for path in suites.ordered(paths)]
    refuse_duplicates(spec.loaded for spec in specs if not isinstance(spec.loaded, SpecError))
    selected = tuple(spec for spec in specs if wanted(f"{spec.path} {spec.name}"))
    if not selected:
        raise NothingToRun(f"{wanted} selects none of {len(specs)} flows")
    return selected


def _read(path: Path, suites: Suites, phase: Phase) -> Given:
    try:
        return Given(path, load(path), phase, suites.beside(path))
    except SpecError as error:
        from flowproof_runner.contract.of_spec import with_contract

        return Given(path, with_contract(error, path), phase)


def _phase(path: Path, command: Literal["run", "record"], record_missing: bool) -> Phase:
    if command == "record" or (record_missing and not cassette.path_of(path).exists()):
        return "record"
    return "replay"
