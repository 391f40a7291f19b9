"""A flow replayed several times: under one cassette, whatever differs is the agent's own doing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from flowproof_addons.trace import file
from flowproof_runner.api import run_flow
from flowproof_runner.contract.recorded import evidence_of
from flowproof_runner.contract.repeat import instability
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.findings import Exit, Finding
from flowproof_runner.report import words
from flowproof_runner.result import FlowResult
from flowproof_runner.spec.file import load


def repeat(path: Path, times: int) -> int:
    """Replay a flow and tell how its runs differ; the exit code. Raises FlowproofError if it cannot be started."""
    spec = load(path)
    results: list[FlowResult] = []
    runs: list[Evidence] = []
    for number in range(times):
        result = run_flow(path)
        results.append(result)
        print(f"{result.verdict.upper()} {result.name} (run {number + 1})")
        for each in result.findings:
            print(f"  {each.severity} {each.id}: {each.message}")
        if result.trace is not None and result.verdict != "error":
            runs.append(evidence_of(spec, file.load(Path(result.trace))))
    found = (*instability(runs), *_verdicts(results))
    for unstable in found:
        print(f"  {unstable.severity} {unstable.id}: {unstable.message}")
        for line in unstable.detail.splitlines():
            print(f"      {line}")
    code = max(result.exit_code for result in results)
    return max(code, int(Exit.FAILED)) if found else code


def _verdicts(results: list[FlowResult]) -> list[Finding]:
    """Findings that some runs have and others have not."""
    counted = Counter(id for result in results for id in {found.id for found in result.findings})
    return [
        Finding(id="repeat.finding", message=f"{id} in {times} of {words.number(len(results), 'run')}")
        for id, times in sorted(counted.items())
        if times < len(results)
    ]
