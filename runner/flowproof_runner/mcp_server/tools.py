"""What the MCP server's tools do, and the shape in which they tell it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

from pydantic import BaseModel, Field

from flowproof_addons.trace.model import JsonValue
from flowproof_runner import api
from flowproof_runner.contract.file import load as load_contract
from flowproof_runner.contract.report import FOLDER, read
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.result import FindingResult, FlowResult, finding
from flowproof_runner.spec.file import SUFFIXES, load

MOST = 100
"""Items of one kind in an answer."""

_LONGEST = 4000
_MEANINGS = {0: "passed", 1: "a check failed", 2: "the run itself is broken", 3: "critical safety finding"}


class ContractTold(BaseModel):
    """A contract run."""

    exit_code: int
    meaning: str
    findings: list[FindingResult]
    never_exercised: list[str] = Field(description="Expectations that nothing in the run put to the test.")
    tool_calls: int
    runs: int
    reports: list[str] = Field(description="Paths of the JSON reports.")
    stderr: str = Field(description="The end of what the adapter wrote to stderr.")


class CallTold(BaseModel):
    """A call in a report."""

    seq: int
    call_id: str
    tool: str
    arguments: JsonValue


class ReportTold(BaseModel):
    """A report read back."""

    scenario: str
    command: list[str]
    duration_ms: float
    status: str
    exit_code: int
    meaning: str
    findings: list[dict[str, JsonValue]]
    calls: list[CallTold]
    call_count: int
    lifecycle: list[str] = Field(description="tool: state, in order.")
    outcome: JsonValue
    never_exercised: list[str]


class SpecTold(BaseModel):
    """One flow or contract."""

    path: str
    kind: str
    name: str
    problem: str = ""
    recorded: bool | None = None


class SpecsTold(BaseModel):
    """Flows and contracts."""

    specs: list[SpecTold]


def run_contract(
    file: Path, command: Sequence[str], repeat: int, cwd: Path, cancelled: Event, finished: Callable[[int], None]
) -> ContractTold:
    """Run a contract; reports go below `cwd`. Raises FlowproofError."""
    result = api.run_contract(
        file, command, repeat=repeat, cwd=cwd, reports=cwd / FOLDER, cancelled=cancelled, finished=finished
    )
    code = int(result.exit_code)
    return ContractTold(
        exit_code=code,
        meaning=_MEANINGS[code],
        findings=[_cut(finding(found)) for found in result.findings[:MOST]],
        never_exercised=sorted({each.text for run in result.runs for each in run.exercised if not each.times}),
        tool_calls=sum(_calls(report) for report in result.reports),
        runs=len(result.runs),
        reports=[str(path) for path in result.paths],
        stderr="".join(run.stderr for run in result.runs)[-_LONGEST:],
    )


def explain_report(path: Path) -> ReportTold:
    """Read a report. Raises FlowproofError if it is none."""
    content = read(path)
    decision = content["decision"]
    assert isinstance(decision, dict)
    code = decision.get("exitCode")
    code = code if isinstance(code, int) else 2
    rows = list(_rows(content.get("evidence")))
    calls = [row for row in rows if row.get("type") == "tool_call"]
    extra = content.get("flowproof")
    exercised = _rows(extra.get("exercised")) if isinstance(extra, dict) else iter(())
    command = content.get("command")
    duration = content.get("durationMs")
    return ReportTold(
        scenario=str(content.get("scenarioId")),
        command=[str(word) for word in command] if isinstance(command, list) else [],
        duration_ms=duration if isinstance(duration, int | float) else 0.0,
        status=str(decision.get("status")),
        exit_code=code,
        meaning=_MEANINGS.get(code, ""),
        findings=[dict(row) for row in _rows(decision.get("findings"))][:MOST],
        calls=[_call(row) for row in calls[:MOST]],
        call_count=len(calls),
        lifecycle=[f"{row.get('tool')}: {row.get('state')}" for row in rows if row.get("type") == "tool_lifecycle"][
            : 4 * MOST
        ],
        outcome=next((_short(row.get("output")) for row in reversed(rows) if row.get("type") == "final"), None),
        never_exercised=[str(row.get("text")) for row in exercised if not row.get("times")],
    )


def run_flow(path: Path, cwd: Path, cancelled: Event) -> FlowResult:
    """Replay a flow. Raises FlowproofError if it cannot be started."""
    return api.run_flow(path, cwd=cwd, cancelled=cancelled)


def list_specs(folder: Path, root: Path) -> SpecsTold:
    """Every flow and contract below a folder, hidden folders left out."""
    found = [_spec(path, root) for path in sorted(_files(folder))]
    return SpecsTold(specs=[spec for spec in found if spec is not None][: 5 * MOST])


def show_trace(path: Path) -> str:
    """A trace, cassette or run folder as a timeline. Raises FlowproofError if it is none."""
    from flowproof_runner.inspect.showing import show

    return show(path, full=False)


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.y*ml"):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def _spec(path: Path, root: Path) -> SpecTold | None:
    shown = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
    if path.name.endswith(SUFFIXES):
        from flowproof_runner.flow import cassette

        recorded = cassette.path_of(path).exists()
        try:
            return SpecTold(path=shown, kind="flow", name=load(path).spec.name, recorded=recorded)
        except SpecError as error:
            return SpecTold(path=shown, kind="flow", name="", problem=str(error)[:_LONGEST], recorded=recorded)
    if "schemaVersion" not in path.read_text("utf-8", errors="replace")[:_LONGEST]:
        return None
    try:
        return SpecTold(path=shown, kind="contract", name=load_contract(path).id)
    except SpecError as error:
        return SpecTold(path=shown, kind="contract", name="", problem=str(error)[:_LONGEST])


def _call(row: Mapping[str, JsonValue]) -> CallTold:
    seq = row.get("seq", row.get("sequence"))
    return CallTold(
        seq=seq if isinstance(seq, int) else 0,
        call_id=str(row.get("callId")),
        tool=str(row.get("tool")),
        arguments=_short(row.get("arguments")),
    )


def _calls(report: Mapping[str, JsonValue]) -> int:
    return sum(row.get("type") == "tool_call" for row in _rows(report.get("evidence")))


def _rows(value: JsonValue) -> Iterator[dict[str, JsonValue]]:
    return (row for row in value if isinstance(row, dict)) if isinstance(value, list) else iter(())


def _cut(found: FindingResult) -> FindingResult:
    return found.model_copy(
        update={
            "message": found.message[:_LONGEST],
            "detail": found.detail[:_LONGEST],
            "expected": _short(found.expected),
            "actual": _short(found.actual),
            "candidates": tuple(replace(each, value=_short(each.value)) for each in found.candidates[:5]),
        }
    )


def _short(value: JsonValue) -> JsonValue:
    """The value, or a preview of one too big for a model's context."""
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST else {"truncated": True, "preview": text[:_LONGEST]}
