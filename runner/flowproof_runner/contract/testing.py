"""`flowproof contract test`: run, repeat, report."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.contract.file import load
from flowproof_runner.contract.run import ContractRun, run
from flowproof_runner.findings import Exit, Finding


def run_file(
    path: Path, command: Sequence[str] = (), *, repeat: int = 1, as_json: bool = False, folder: Path | None = None
) -> int:
    """Run a contract file and tell what came of it; the exit code."""
    file = load(path)
    out = sys.stderr if as_json else sys.stdout
    runs: list[ContractRun] = []
    reports: list[dict[str, JsonValue]] = []
    for _ in range(repeat):
        done = run(file, command)
        from flowproof_runner.contract.report import FOLDER, lines, report, write

        content = report(done)
        written = write(content, folder or FOLDER)
        runs.append(done)
        reports.append({**content, "path": str(written)})
        for text in (*lines(content), f"  evidence: {written}"):
            print(text, file=out, flush=True)
        _annotate(content)
    unstable = _unstable(runs)
    for found in unstable:
        print(f"  {found.severity} {found.id}: {found.message}", file=out)
        for text in found.detail.splitlines():
            print(f"      {text}", file=out)
    code = worst(runs, unstable)
    if as_json:
        whole: JsonValue = reports[0] if repeat == 1 else _several(reports, unstable, code)  # type: ignore[assignment]
        print(json.dumps(whole, ensure_ascii=False, indent=2))
    return code


def worst(runs: Sequence[ContractRun], unstable: Sequence[Finding]) -> int:
    """3 beats 2 beats 1; instability alone is 1."""
    code = max((int(done.exit) for done in runs), default=int(Exit.UNUSABLE))
    return max(code, int(Exit.FAILED)) if unstable else code


def _unstable(runs: Sequence[ContractRun]) -> Sequence[Finding]:
    if len(runs) < 2:
        return ()
    from flowproof_runner.contract.repeat import instability

    return instability([done.evidence for done in runs])


def _several(reports: list[dict[str, JsonValue]], unstable: Sequence[Finding], code: int) -> Mapping[str, JsonValue]:
    from flowproof_runner.contract.report import finding_row

    return {"runs": list(reports), "stability": [finding_row(found) for found in unstable], "exitCode": code}


def _annotate(content: Mapping[str, JsonValue]) -> None:
    """Workflow commands for GitHub, which shows them at the contract's line."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    decision = content["decision"]
    findings = decision.get("findings") if isinstance(decision, dict) else None
    for found in findings if isinstance(findings, list) else ():
        assert isinstance(found, dict)
        level = "error" if found.get("severity") == "critical" else "warning"
        message = str(found.get("message")).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        print(f"::{level} title={found.get('id')}::{message}", file=sys.stderr)
