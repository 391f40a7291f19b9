"""The row a flow leaves for the control it is evidence for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flowproof_runner.containment.report import ENFORCED, ContainmentReport, Violation, not_contained
from flowproof_runner.controls.controls import ControlRow, DuplicateControl, refuse_duplicates, row, verdict
from flowproof_runner.findings import Finding
from flowproof_runner.spec.file import LoadedSpec, load

CONTROL = "control: { id: sec.egress, title: Touches nothing undeclared }\n"
STEPS = """
  - assert_tool_call: search
  - assert_no_tool_request: export
  - assert: reply contains booked
  - assert_no_egress
  - assert_no_secret_leak: [ "${API_TOKEN}", "${SHORT}", "${UNSET}" ]
"""


@pytest.fixture
def flow(tmp_path: Path) -> Callable[..., LoadedSpec]:
    def make(name: str = "flow", steps: str = STEPS, more: str = CONTROL) -> LoadedSpec:
        path = tmp_path / f"{name}.flow.yaml"
        path.write_text(
            f"name: {name}\napp: agent\nagent:\n  command: run\n  allow_egress: [ '${{SERVICE}}:443' ]\n"
            f"{more}steps:\n  - prompt: go{steps}"
        )
        return load(path)

    return make


CHECK = Finding(id="tool.call.missing", message="x")
PROBLEM = Finding(id="egress.uncertified", message="x", kind="problem")


@pytest.mark.parametrize(
    ("findings", "expected"),
    [((), "pass"), ((CHECK,), "fail"), ((PROBLEM,), "capability-error"), ((PROBLEM, CHECK), "fail")],
)
def test_the_verdict_is_decided_by_the_kind_of_what_is_wrong(findings: tuple[Finding, ...], expected: str) -> None:
    assert verdict(findings) == expected


def test_the_row_says_what_was_asserted_what_was_enforced_and_what_was_looked_for(
    flow: Callable[..., LoadedSpec],
) -> None:
    secrets = {"API_TOKEN": "a-real-secret", "SHORT": "abc"}
    report = ContainmentReport(ENFORCED, (Violation("198.51.100.9:443", "tcp"),))
    found = row(spec := flow(), [CHECK], report, secrets)
    assert found is not None
    assert found.lanes == ("tools", "model", "reply", "egress", "secrets")
    assert (found.verdict, found.containment, found.findings) == ("fail", ENFORCED, ("tool.call.missing",))
    assert found.secrets.checked == ("API_TOKEN",)
    assert found.secrets.excluded == {"SHORT": "fewer than 8 characters", "UNSET": "not set"}
    assert found.evidence["allow_egress"] == ["${SERVICE}:443"]
    assert "198.51.100.9:443" in str(found.evidence["blocked"])
    assert found.spec_digest == spec.digest
    assert "a-real-secret" not in found.model_dump_json()
    assert ControlRow.model_validate_json(found.model_dump_json()) == found


def test_what_another_machine_blocked_is_no_evidence_of_an_uncontained_run(flow: Callable[..., LoadedSpec]) -> None:
    report = ContainmentReport(not_contained("why"), (Violation("198.51.100.9:443", "tcp"),))
    found = row(flow(), [PROBLEM], report, {})
    assert found is not None
    assert (found.verdict, found.containment) == ("capability-error", "not contained (why)")
    assert found.evidence == {"tier": "not contained (why)", "allow_egress": ["${SERVICE}:443"]}


def test_a_flow_without_a_control_leaves_no_row(flow: Callable[..., LoadedSpec]) -> None:
    assert row(flow(more=""), [], None, {}) is None


def test_two_flows_may_not_claim_one_control(flow: Callable[..., LoadedSpec]) -> None:
    one, two, other = flow("one"), flow("two"), flow("other", more="control: { id: x, title: y }\n")
    refuse_duplicates([one, other, flow("none", more="")])
    with pytest.raises(DuplicateControl) as refused:
        refuse_duplicates([one, two, other])
    assert "'sec.egress'" in str(refused.value)
    assert "one.flow.yaml:6" in str(refused.value) and "two.flow.yaml:6" in str(refused.value)
