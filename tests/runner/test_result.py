"""Verdicts and exit codes: 3 beats 2 beats 1, and nothing run is no pass."""

from __future__ import annotations

import pytest

from flowproof_runner.findings import Finding, Verdict
from flowproof_runner.result import FlowResult, overall, verdict

CHECK = Finding(id="a", message="")
PROBLEM = Finding(id="b", message="", kind="problem")
CRITICAL = Finding(id="c", message="", severity="critical")


@pytest.mark.parametrize(
    "findings, expected",
    [
        ([], ("pass", 0)),
        ([CHECK], ("fail", 1)),
        ([CHECK, PROBLEM], ("error", 2)),
        ([PROBLEM, CRITICAL, CHECK], ("fail", 3)),
    ],
)
def test_a_flows_verdict_is_its_worst_finding(findings: list[Finding], expected: tuple[Verdict, int]) -> None:
    assert verdict(findings) == expected


def flow(verdict: Verdict, code: int) -> FlowResult:
    return FlowResult(name="", spec="", phase="replay", verdict=verdict, exit_code=code)


@pytest.mark.parametrize(
    "flows, expected",
    [
        ([flow("pass", 0), flow("skip", 0)], ("pass", 0)),
        ([flow("skip", 0)], ("skip", 0)),
        ([flow("pass", 0), flow("fail", 1)], ("fail", 1)),
        ([flow("error", 2), flow("fail", 1)], ("error", 2)),
        ([flow("error", 2), flow("fail", 3)], ("fail", 3)),
        ([], ("error", 2)),
    ],
)
def test_a_runs_verdict_is_its_worst_flow(flows: list[FlowResult], expected: tuple[Verdict, int]) -> None:
    assert overall(flows) == expected
