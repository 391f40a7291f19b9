"""`assert_no_secret_leak`: guilty and innocent runs."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from flowproof_addons.trace.model import Exchange, JsonBody, Reply, Request, Trace
from flowproof_runner.expectations.ast import NoSecretLeak, PlacedStep
from flowproof_runner.findings import Exit, Finding, exit_code
from flowproof_runner.secrecy import secrets

VALUE = 'hunter2/"quoted"'
STEP = PlacedStep(NoSecretLeak(("API_TOKEN",)), 2, "x.flow.yaml:7")


def judged(text: str, value: str = VALUE, outputs: dict[str, Path] | None = None) -> list[Finding]:
    body = JsonBody({"messages": [{"role": "user", "content": text}]})
    exchange = Exchange(Request("POST", "/v1/chat/completions", "", body), Reply(200, JsonBody({})), "openai-chat")
    trace = Trace("flowproof", "2026-01-01T00:00:00Z", "", (exchange,))
    return list(secrets.judge(STEP, {"API_TOKEN": value}, trace, outputs or {}))


@pytest.mark.parametrize(
    "text",
    [VALUE, "${API_TOKEN}", base64.b64encode(VALUE.encode()).decode(), VALUE.encode().hex()],
    ids=["plain", "as it is written to disk", "base64", "hex"],
)
def test_a_secret_in_a_request_is_critical_and_names_the_variable_and_the_place_only(text: str) -> None:
    (found,) = judged(f"look: {text}")
    assert found.message.startswith("the value of API_TOKEN crossed the boundary: turn 1, request.messages[0].content")
    assert (found.id, found.where, exit_code([found])) == (secrets.LEAKED, "x.flow.yaml:7", Exit.CRITICAL)
    assert VALUE not in repr(found)


def test_a_run_without_the_secret_passes() -> None:
    assert judged("nothing to see") == []


def test_what_the_agent_printed_counts(tmp_path: Path) -> None:
    stdout = tmp_path / "stdout.txt"
    stdout.write_text("token: ${API_TOKEN}\n")
    (found,) = judged("nothing", outputs={"stdout": stdout, "stderr": tmp_path / "none"})
    assert "printed by the agent on its stdout" in found.message


def test_a_value_any_text_might_hold_is_refused_with_the_reason() -> None:
    (found,) = judged("nothing", value="1234567")
    assert (found.id, exit_code([found])) == (secrets.TOO_SHORT, Exit.UNUSABLE)
