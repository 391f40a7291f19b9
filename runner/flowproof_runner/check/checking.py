"""What can be known about specs and their cassettes without running anything."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_runner.check import explanation
from flowproof_runner.contract.of_spec import contract_of, with_contract
from flowproof_runner.controls import controls
from flowproof_runner.flow import cassette
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.report import words
from flowproof_runner.spec.file import LoadedSpec, load
from flowproof_runner.suite import ageing
from flowproof_runner.suite.file import Suites
from flowproof_runner.targets.specs import collect


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found."""

    lines: tuple[str, ...]
    """What is right, and what is worth knowing."""
    problems: tuple[str, ...]
    """What is wrong, each with its place."""


def check(paths: Sequence[Path], *, explain: bool = False) -> Checked:
    """Read every spec and cassette. Raises NothingToRun if there is no spec."""
    lines, problems, suites = list[str](), list[str](), Suites()
    specs = list[LoadedSpec]()
    for path in collect(paths):
        try:
            spec = load(path)
            contract = contract_of(spec)
            suites.beside(path)
        except SpecError as error:
            told = with_contract(error, path).problems
            problems += [str(problem) for problem in told if str(problem) not in problems]
            continue
        specs.append(spec)
        state, wrong = _cassette(spec)
        problems += wrong
        lines.append(f"{'ok   ' if not wrong else 'wrong'}  {path} · {spec.spec.name} · {state}")
        lines += explanation.explain(spec, contract) if explain else ()
    problems += controls.duplicates(specs)
    return Checked(tuple(lines), tuple(problems))


def _cassette(spec: LoadedSpec) -> tuple[str, Iterable[str]]:
    if not cassette.path_of(spec.path).exists():
        return "no cassette yet", ()
    try:
        trace = cassette.load(spec)
    except FlowproofError as error:
        return "cassette unusable", (str(error),)
    old = ageing.days(trace, dt.datetime.now(dt.UTC))
    ago = f" {words.number(old, 'day')} ago" if old else ""
    return f"{words.number(len(trace.turns), 'turn')} recorded{ago}", ()
