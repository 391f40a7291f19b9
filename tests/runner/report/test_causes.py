"""Which findings of several flows are one cause."""

from __future__ import annotations

from flowproof_runner.report import causes
from flowproof_runner.result import FindingResult, FlowResult

DRIFT = FindingResult(
    id="model.divergence", message="turn 1: system prompt changed", path="messages[0]", actual="a", cause="c1"
)


def flow(spec: str, *findings: FindingResult) -> FlowResult:
    return FlowResult(
        name="", spec=spec, phase="replay", verdict="fail" if findings else "pass", exit_code=1, findings=findings
    )


def specs(*flows: FlowResult) -> list[tuple[str, tuple[str, ...]]]:
    return [(cause.message, cause.specs) for cause in causes.shared(flows)]


def test_the_same_drift_in_many_flows_is_one_cause_whatever_its_turn() -> None:
    later = DRIFT.model_copy(update={"message": "turn 7: system prompt changed", "path": "messages[4]", "actual": "b"})
    assert specs(flow("a", DRIFT), flow("b"), flow("c", later, later)) == [(DRIFT.message, ("a", "c"))]


def test_another_drift_is_another_cause() -> None:
    other = DRIFT.model_copy(update={"cause": "c2"})
    assert specs(flow("a", DRIFT), flow("b", other)) == []


def test_what_merely_follows_is_no_cause() -> None:
    follows = FindingResult(id="agent.exit", message="exit 1", caused_by="model.divergence")
    assert specs(flow("a", follows), flow("b", follows)) == []


def test_findings_without_a_cause_are_told_apart_by_what_they_expected_and_saw() -> None:
    three = FindingResult(id="agent.exit", message="exit 3", expected=0, actual=3)
    assert specs(flow("a", three), flow("b", three.model_copy(update={"actual": 4}))) == []
    assert specs(flow("a", three), flow("b", three)) == [("exit 3", ("a", "b"))]
