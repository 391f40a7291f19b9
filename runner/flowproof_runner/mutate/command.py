"""`flowproof mutate`: from a contract or a spec to the numbers and an exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_runner.contract.events01 import from_rows
from flowproof_runner.contract.file import ContractFile, load
from flowproof_runner.contract.report import read
from flowproof_runner.contract.run import run
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.findings import Exit
from flowproof_runner.mutate.render import data, table
from flowproof_runner.mutate.score import Study, Subject, study
from flowproof_runner.mutate.worlds import Visit, visit_all


class MutateError(FlowproofError):
    """There is no run to mutate, or the checks fail on it as it is."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for."""

    command: tuple[str, ...] = ()
    recorded: Path | None = None
    """A report whose evidence is mutated instead of running the agent."""
    worlds: Path | None = None
    threshold: float | None = None
    """Percent below which the command fails."""
    reads: tuple[str, ...] = ()
    as_json: bool = False
    verbose: bool = False


def mutate(path: Path, options: Options) -> int:
    """Study the checks of a file and print it; the exit code. Raises MutateError."""
    if path.name.endswith((".flow.yaml", ".flow.yml")):
        return _flow(path, options)
    file = load(path)
    evidence = _evidence(file, options)
    subject = Subject.of(file.contract, evidence)
    studied = _studied(path, study(subject, evidence, (*options.reads, *file.reads)))
    visits = visit_all(file, options.command, options.worlds, evidence) if options.worlds is not None else None
    return _told(studied, visits, options)


def _flow(path: Path, options: Options) -> int:
    from flowproof_runner.mutate.flow import recorded, visit_recordings

    if options.command or options.recorded is not None:
        raise MutateError(f"{path}: a flow is mutated as it was recorded; a command and --run go with contract files")
    subject, evidence = recorded(path)
    studied = _studied(path, study(subject, evidence, options.reads))
    visits = visit_recordings(options.worlds, subject) if options.worlds is not None else None
    return _told(studied, visits, options)


def _evidence(file: ContractFile, options: Options) -> Evidence:
    if options.recorded is not None:
        return _reported(options.recorded)
    ran = run(file, options.command)
    if ran.broken:
        raise MutateError(f"{file.path}: the run to mutate failed: {ran.findings[-1].message}")
    return ran.evidence


def _reported(path: Path) -> Evidence:
    content = read(path)
    decision, rows, duration = content["decision"], content["evidence"], content.get("durationMs")
    if isinstance(decision, dict) and decision.get("status") == "runtime_failed":
        raise MutateError(f"{path}: this run broke off, so mutants of it would prove nothing")
    assert isinstance(rows, list)
    return from_rows(rows, complete=True, duration_ms=duration if isinstance(duration, int | float) else None)


def _studied(path: Path, studied: Study) -> Study:
    """The study, unless the checks already fail on the run as it is."""
    if studied.baseline:
        found = "; ".join(f"{finding.id}: {finding.message}" for finding in studied.baseline[:5])
        raise MutateError(f"{path}: the checks fail on the run as it is, so mutants would prove nothing: {found}")
    return studied


def _told(studied: Study, visits: Sequence[Visit] | None, options: Options) -> int:
    if options.as_json:
        print(json.dumps(data(studied, visits), ensure_ascii=False, indent=2))
    for text in table(studied, visits, verbose=options.verbose):
        print(text, file=sys.stderr if options.as_json else sys.stdout)
    return int(exit_of(studied, visits, options.threshold))


def exit_of(studied: Study, visits: Sequence[Visit] | None, threshold: float | None) -> Exit:
    """1 when a score is below the threshold or a world was rejected, 2 when nothing could be measured.

    False alarms among the mutants count once there is a threshold: before that the checks are still being written.
    """
    if not studied.score.scorable or any(visit.verdict == "invalid" for visit in visits or ()):
        return Exit.UNUSABLE
    scores = [studied.score, *([studied.without_outcome] if studied.without_outcome is not None else [])]
    low = threshold is not None and any(score.percent < threshold for score in scores)
    rejected = any(visit.verdict == "false alarm" for visit in visits or ())
    alarmed = threshold is not None and studied.score.overblocked
    return Exit.FAILED if low or rejected or alarmed else Exit.PASS
