"""Sample results: what every report is rendered from in the tests."""

from __future__ import annotations

import pytest

from flowproof_runner.report import causes
from flowproof_runner.result import AgentEnd, Counts, FindingResult, FlowResult, PinUse, RunResult, overall

DIVERGENCE = FindingResult(
    id="model.divergence",
    message="request 2 is not the recorded one: messages[0].content differs",
    where="specs/refund.flow.yaml:9",
    detail=(
        "messages[0].content\n  - recorded: 'Be kind.'\n  + sent:     'Be <curt>.'\nrecord again if the change is meant"
    ),
    path="messages[0].content",
    expected="Be kind.",
    actual="Be <curt>.",
)
PASSED = FlowResult(
    name="Books a flight",
    spec="specs/booking.flow.yaml",
    phase="replay",
    verdict="pass",
    exit_code=0,
    counts=Counts(turns=3, recorded_turns=3, tool_calls=2, input_tokens=10, output_tokens=5),
    pins=(PinUse(name="today", count=2, why="the prompt holds the date"),),
    duration_s=0.84,
)
FAILED = FlowResult(
    name="Refund | needs approval",
    spec="specs/refund.flow.yaml",
    phase="replay",
    verdict="fail",
    exit_code=1,
    findings=(
        DIVERGENCE,
        FindingResult(
            id="agent.exit", message="the agent exited with code 1", where="specs/refund.flow.yaml:4",
            caused_by="model.divergence",
        ),
    ),
    counts=Counts(turns=2, recorded_turns=3),
    agent=AgentEnd(
        ending="exited",
        duration_s=0.41,
        exit_code=1,
        stdout="runs/02-refund/stdout.txt",
        stderr="runs/02-refund/stderr.txt",
        tail=("Traceback (most recent call last):", "openai.BadRequestError: not the recorded one"),
        tail_of="stderr",
    ),
    trace="runs/02-refund/trace.json",
    folder="runs/02-refund",
    duration_s=0.92,
)  # fmt: skip
ERROR = FlowResult(
    name="",
    spec="specs/broken.flow.yaml",
    phase="replay",
    verdict="error",
    exit_code=2,
    findings=(
        FindingResult(
            id="flow.error",
            kind="problem",
            message="specs/broken.flow.yaml:3:1: stepz: unknown key; accepted are: agent, name\nand more",
            where="specs/broken.flow.yaml:3",
        ),
    ),
)
SKIPPED = FlowResult(
    name="Live",
    spec="specs/live.flow.yaml",
    phase="replay",
    verdict="skip",
    exit_code=0,
    reason="OPENAI_API_KEY is not set",
)


def run_of(*flows: FlowResult, command: str = "run") -> RunResult:
    verdict, code = overall(flows)
    return RunResult.model_validate(
        {
            "flowproof": "0.1.0",
            "command": command,
            "id": "20261202T064512Z-a1b2c3",
            "folder": "runs",
            "started_at": "2026-12-02T06:45:12Z",
            "duration_s": 1.8,
            "verdict": verdict,
            "exit_code": code,
            "flows": flows,
            "causes": causes.shared(flows),
        }
    )


@pytest.fixture
def passed() -> RunResult:
    return run_of(PASSED)


@pytest.fixture
def mixed() -> RunResult:
    return run_of(PASSED, FAILED, ERROR, SKIPPED)


@pytest.fixture
def same_twice() -> RunResult:
    other = FAILED.model_copy(update={"spec": "specs/other.flow.yaml", "name": "Other", "agent": None, "trace": None})
    return run_of(FAILED, other)


@pytest.fixture
def all_skipped() -> RunResult:
    return run_of(SKIPPED)


@pytest.fixture
def recorded() -> RunResult:
    return run_of(PASSED.model_copy(update={"phase": "record", "pins": ()}), command="record")
