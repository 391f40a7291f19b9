"""The report of a contract run: JSON of format 0.1 and more, a few lines for people, and reading it again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from flowproof_addons import FlowproofError
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.redact import Redactor
from flowproof_runner.contract.events01 import to_rows
from flowproof_runner.contract.run import ContractRun
from flowproof_runner.findings import Finding
from flowproof_runner.program.version import version

FOLDER = Path(".flowproof") / "contracts"

_STATUS = {0: "passed", 1: "failed", 2: "runtime_failed", 3: "failed"}
_MARKS = {0: "PASS", 1: "FAIL", 2: "ERROR", 3: "FAIL"}


class ReportError(FlowproofError):
    """A report cannot be written or read."""


def report(run: ContractRun, redactor: Redactor | None = None) -> dict[str, JsonValue]:
    """The report as JSON. Judging is over when anything is hidden, so hiding cannot change a verdict."""
    hide = _hiding(run, redactor)
    status = "runtime_failed" if run.broken else _STATUS[run.exit]
    whole: dict[str, JsonValue] = {
        "reportVersion": "0.1",
        "runId": secrets.token_hex(8),
        "scenarioId": run.file.id,
        "scenarioPath": str(run.file.path.absolute()),
        "command": list(run.command),
        "startedAt": run.started_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "durationMs": round(run.duration_ms, 3),
        "evidence": hide(to_rows(run.evidence.events, run.started_at, enforced=bool(run.file.enforced))),
        "decision": {
            "status": status,
            "exitCode": int(run.exit),
            "findings": hide([finding_row(found) for found in run.findings]),
        },
        "flowproof": {
            "version": version(),
            "contractDigest": hashlib.sha256(run.file.path.read_bytes()).hexdigest(),
            "agentExitCode": run.agent_exit,
            "complete": run.evidence.complete,
            "exercised": [
                {"id": each.id, "text": each.text, "times": each.times, "failed": each.failed, "where": each.where}
                for each in run.exercised
            ],
        },
    }
    if run.stderr.strip():
        whole["stderr"] = hide(run.stderr.strip())
    return whole


def write(content: Mapping[str, JsonValue], folder: Path) -> Path:
    """Write a report under a name of its own, readable by its owner only. Raises ReportError."""
    stamp = str(content["startedAt"]).replace(":", "-").replace(".", "-")
    path = folder / f"{content['scenarioId']}-{stamp}-{content['runId']}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:  # half a character, escaped
            json.dump(content, file, ensure_ascii=False, indent=2)
            file.write("\n")
    except OSError as error:
        raise ReportError(f"report {str(path)!r} cannot be written: {error.strerror}") from error
    return path


def read(path: Path) -> dict[str, JsonValue]:
    """A report, ours or any of format 0.1. Raises ReportError if it is none."""
    try:
        if path.stat().st_size > 64 << 20:
            raise ReportError(f"{path} is larger than 64 MiB; not read")
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ReportError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ReportError(f"{path} is not a report: {error}") from error
    if not isinstance(content, dict) or content.get("reportVersion") != "0.1":
        raise ReportError(f"{path} is not a contract report: reportVersion 0.1 is missing")
    decision, evidence = content.get("decision"), content.get("evidence")
    if (
        not isinstance(decision, dict)
        or not isinstance(decision.get("findings"), list)
        or not isinstance(evidence, list)
    ):
        raise ReportError(f"{path} is not a contract report: decision or evidence is missing")
    return content


def finding_row(found: Finding) -> JsonValue:
    """A finding in a report."""
    row: dict[str, JsonValue] = {"id": found.id, "severity": found.severity, "message": found.message}
    optional: dict[str, JsonValue] = {
        "evidenceSeq": found.seq,
        "causedBy": found.caused_by,
        "where": found.where,
        "path": found.path,
        "detail": found.detail,
        "expected": found.expected,
        "actual": found.actual,
        "candidates": [{"value": each.value, "evidenceSeq": each.seq} for each in found.candidates] or None,
        "nearest": None
        if found.nearest is None
        else {"value": found.nearest.value, "evidenceSeq": found.nearest.seq, "fails": list(found.nearest.fails)},
    }
    return row | {name: value for name, value in optional.items() if value not in (None, "")}


def lines(content: Mapping[str, JsonValue], *, exercised: bool = True) -> Iterator[str]:
    """A report for people: the verdict, the findings under their causes, what was never put to the test."""
    decision = content["decision"]
    assert isinstance(decision, dict)
    code = decision.get("exitCode")
    mark = _MARKS.get(code if isinstance(code, int) else 2, "ERROR")
    yield f"{mark} {content['scenarioId']} ({content['durationMs']:.0f} ms)"
    findings = [f for f in _rows(decision.get("findings"))]
    causes = {str(f["id"]) for f in findings}
    for found in findings:
        if found.get("causedBy") not in causes:
            yield from _finding(found, "  ")
            yield from (
                text for other in findings if other.get("causedBy") == found["id"] for text in _finding(other, "    ")
            )
    extra = content.get("flowproof")
    if exercised and isinstance(extra, dict):
        for each in _rows(extra.get("exercised")):
            if not each.get("times"):
                yield f"  never put to the test: {each.get('text')}"


def event_lines(content: Mapping[str, JsonValue]) -> Iterator[str]:
    """A line for each event."""
    for row in _rows(content.get("evidence")):
        number = row.get("seq", row.get("sequence"))
        rest = {k: v for k, v in row.items() if k not in ("type", "seq", "sequence", "timestamp")}
        text = json.dumps(rest, ensure_ascii=False)
        yield f"  #{number} {row.get('type')} {text if len(text) <= 160 else text[:160] + '…'}"


def _finding(found: Mapping[str, JsonValue], indent: str) -> Iterator[str]:
    seq = found.get("evidenceSeq", found.get("evidenceSequence"))
    place = f" [evidence #{seq}]" if seq is not None else ""
    where = f" ({found['where']})" if found.get("where") else ""
    yield f"{indent}{found.get('severity')} {found.get('id')}: {found.get('message')}{place}{where}"
    for text in str(found.get("detail", "")).splitlines():
        yield f"{indent}    {text}"


def _rows(value: JsonValue) -> Iterable[Mapping[str, JsonValue]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _hiding(run: ContractRun, redactor: Redactor | None) -> Callable[[JsonValue], JsonValue]:
    """What takes secrets out of a part of the report, and puts the file's own word in the place of a member's value."""
    redaction = run.file.redaction
    if redactor is not None or redaction is None:
        return (redactor or Redactor({})).hide
    ours = Redactor({}, redaction.keys)
    if not redaction.replacement:
        return ours.hide
    named = re.compile(r"\$\{REDACTED:(?:" + "|".join(map(re.escape, redaction.keys)) + r")\}", re.IGNORECASE)
    return lambda value: _said(ours.hide(value), named, redaction.replacement)


def _said(value: JsonValue, named: re.Pattern[str], word: str) -> JsonValue:
    match value:
        case str():
            return word if named.fullmatch(value) else value
        case dict():
            return {key: _said(child, named, word) for key, child in value.items()}
        case list():
            return [_said(child, named, word) for child in value]
        case _:
            return value
