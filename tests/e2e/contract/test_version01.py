"""Contract files of version 0.1 and adapters written for it: verdicts, exit codes and findings as they always were."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from flowproof_runner.entry import run as flowproof

type Agent = Callable[..., list[str]]

LOANS = {
    "member": {"$file": "data/member.yml"},
    "copies": {
        "$cases": [
            {"callIndex": 0, "arguments": {"title": "Emma"}, "result": {"shelf": "E1"}},
            {"callIndex": 1, "arguments": {"title": "Dune"}, "result": {"shelf": "D7"}},
        ]
    },
    "lend": {"$cases": [{"arguments": {"shelf": "D7"}, "result": {"$file": "data/lent.json"}}, {"result": {"due": 7}}]},
    "fine": {"ok": True},
}
GOOD = """
m = call("member", id=3)["result"]
a, b = (call("copies", title=t)["result"]["shelf"] for t in ("Emma", "Dune"))
call("lend", shelf=a); call("lend", shelf=b)
"""
DONE = 'send(type="final", status="completed", output={"lent": [a, b], "member": m["name"]})'
YES = 'send(type="confirmation", tool="fine", confirmed=True)\n'


@dataclass(frozen=True)
class Case:
    id: str
    expect: dict[str, object]
    script: str
    code: int
    findings: tuple[str, ...] = ()
    more: dict[str, object] = field(default_factory=dict)


def second(**reference: object) -> dict[str, object]:
    source = {"tool": "copies", "path": "shelf", **reference}
    return {"tools": {"arguments": [{"tool": "lend", "callIndex": 1, "match": {"shelf": {"$fromResult": source}}}]}}


ENFORCED: dict[str, object] = {"enforcement": {"preDispatch": True}}
SWAPPED = GOOD.replace("shelf=b", "shelf=a")
WHOLE: dict[str, object] = {
    "tools": {
        "required": ["member", {"tool": "lend", "when": {"outcomePath": "lent", "nonEmpty": True}}],
        "order": ["member", "copies", "copies", "lend"],
        "maxCalls": 5,
        "budgets": [{"tool": "lend", "callsMatchOutcome": "lent"}, {"tool": "copies", "minCalls": 2, "maxCalls": 2}],
        "precedence": [{"before": "member", "after": "lend", "scope": "first"}],
    },
    "outcome": {
        "status": "completed",
        "match": {"member": {"$fromResult": {"tool": "member", "path": "name"}}},
        "schema": {"type": "object", "required": ["lent"], "properties": {"lent": {"type": "array", "minItems": 1}}},
    },
}

CASES = [
    Case("a good run", WHOLE, GOOD + DONE, 0),
    Case(
        "a report that is not what was seen",
        WHOLE,
        GOOD + DONE.replace('m["name"]', '"Eve"'),
        1,
        ("outcome.output_subset",),
    ),
    Case(
        "a report without its list",
        WHOLE,
        GOOD + DONE.replace("lent", "gave"),
        1,
        ("outcome.output_schema", "tool.calls_outcome_unresolved", "tool.condition_unresolved"),
    ),
    Case("any earlier answer will do", second(), SWAPPED + DONE, 0),
    Case("the answer of one call must do", second(callIndex=1), SWAPPED + DONE, 1, ("tool.arguments_subset",)),
    Case("the answer of one call does", second(callIndex=1), GOOD + DONE, 0),
    Case(
        "no fixture fits",
        {},
        'call("copies", title="Ulysses")\nsend(type="final", status="x")',
        1,
        ("fixture.unmatched_call",),
    ),
    Case("no fixture at all", {}, 'call("burn")', 2, ("runtime.execution",)),
    Case(
        "forbidden and unapproved, then a crash",
        {"tools": {"forbidden": ["fine"]}, "confirmation": {"requiredBefore": ["fine"]}},
        'call("fine"); sys.exit(7)',
        3,
        ("runtime.execution", "safety.confirmation_required", "tool.forbidden"),
    ),
    Case(
        "refused before dispatch",
        {"tools": {"forbidden": ["fine"]}},
        'call("fine")',
        3,
        ("dispatch.authorization_denied",),
        ENFORCED,
    ),
    Case(
        "approvals given in one go",
        {"confirmation": {"requiredBefore": ["fine"]}},
        YES + YES + 'call("fine"); call("fine"); send(type="final", status="x")',
        0,
        (),
        ENFORCED,
    ),
    Case(
        "one approval for two calls",
        {"confirmation": {"requiredBefore": ["fine"]}},
        YES + 'call("fine"); call("fine"); send(type="final", status="x")',
        3,
        ("dispatch.authorization_denied",),
        ENFORCED,
    ),
]


@pytest.fixture
def loans(shop: Path) -> Callable[..., Path]:
    """Writes the contract file of a library around an `expect:`."""
    (shop / "data").mkdir()
    (shop / "data" / "member.yml").write_text("name: Ann\n")
    (shop / "data" / "lent.json").write_text('{"due": 14}')

    def write(expect: dict[str, object], **more: object) -> Path:
        envelope = {
            "schemaVersion": "0.1",
            "id": "loans",
            "input": {"message": "Lend two.", "data": {"n": 2}},
            "fixtures": LOANS,
            "expect": expect,
            "performance": {"maxDurationMs": 10_000},
            **more,
        }
        path = shop / "loans.yml"
        path.write_text(yaml.safe_dump(envelope, sort_keys=False))
        return path

    return write


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_run_is_judged_as_it_always_was(
    case: Case, loans: Callable[..., Path], agent: Agent, capsys: pytest.CaptureFixture[str]
) -> None:
    path = loans(case.expect, **case.more)
    assert flowproof(["contract", "test", str(path), "--json", "--", *agent(case.script)]) == case.code
    decision = json.loads(capsys.readouterr().out)["decision"]
    assert sorted({found["id"] for found in decision["findings"]}) == list(case.findings)
    broken = "runtime.execution" in case.findings
    assert decision["status"] == ("runtime_failed" if broken else "failed" if case.code else "passed")


def test_what_cannot_be_meant_is_refused_before_the_adapter_starts(
    loans: Callable[..., Path], agent: Agent, shop: Path
) -> None:
    path = loans({"tools": {"forbidden": ["fine"]}, "confirmation": {"requiredBefore": ["fine"]}}, **ENFORCED)
    assert flowproof(["contract", "test", str(path), "--", *agent("open('started', 'w')")]) == 2
    assert not (shop / "started").exists()
    assert not (shop / ".flowproof").exists()


def test_the_adapter_of_the_file_is_started_where_one_is(loans: Callable[..., Path], agent: Agent, shop: Path) -> None:
    script = "assert start['input'] == {'message': 'Lend two.', 'data': {'n': 2}}, start\n"
    script += f"assert __import__('os').getcwd() == {str(shop)!r}\n" + GOOD + DONE
    path = loans(WHOLE, adapter={"command": agent(script)})
    (shop / "below").mkdir()
    moved = path.rename(shop / "below" / "loans.yml")
    (shop / "data").rename(shop / "below" / "data")
    assert flowproof(["contract", "test", str(moved)]) == 0


def test_a_report_of_another_hand_is_inspected(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stamp = {"timestamp": "2026-01-01T00:00:00.000Z"}
    finding = {"id": "tool.forbidden", "severity": "critical", "message": "fine was called", "evidenceSequence": 1}
    report = {
        "reportVersion": "0.1",
        "runId": "7f4df6a2-0000-4000-8000-000000000000",
        "scenarioId": "loans",
        "scenarioPath": "/somewhere/loans.yml",
        "command": ["node", "a.mjs"],
        "startedAt": "2026-01-01T00:00:00.000Z",
        "durationMs": 12,
        "graph": [{"node": "load", "status": "completed", **stamp}],
        "evidence": [{"type": "tool_call", "callId": "1", "tool": "fine", "arguments": {}, "sequence": 1, **stamp}],
        "decision": {"status": "failed", "exitCode": 3, "findings": [finding]},
    }
    (shop / "run.json").write_text(json.dumps(report))
    assert flowproof(["contract", "inspect", "run.json"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("FAIL loans (12 ms)\n  critical tool.forbidden: fine was called [evidence #1]")
    assert '#1 tool_call {"callId": "1", "tool": "fine", "arguments": {}}' in told
