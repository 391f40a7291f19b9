"""How a run ended is judged before its assertions are."""

from __future__ import annotations

import pytest

from flowproof_addons.trace.model import BytesBody, Exchange, Reply, Request
from flowproof_runner.drivers.base import DriverResult, Ending
from flowproof_runner.flow import verdicts

HERE = "a.flow.yaml:3"


def ended(
    ending: Ending = "exited", code: int | None = None, signal: int | None = None, cause: str | None = None
) -> list[tuple[str, str, str | None]]:
    result = DriverResult(ending, 1.0, code, signal)
    found = verdicts.of_agent(result, frozenset({0, 4}), 300.0, HERE, cause)
    return [(f.id, f.message, f.caused_by) for f in found]


@pytest.mark.parametrize("code", [0, 4, None])
def test_an_expected_end_is_no_finding(code: int | None) -> None:
    assert ended(code=code) == []


def test_any_exit_code_will_do_where_the_spec_says_so() -> None:
    assert not list(verdicts.of_agent(DriverResult("exited", 1.0, 9), None, 300.0, HERE, None))


def test_another_exit_code_fails() -> None:
    assert ended(code=3) == [("agent.exit", "the agent exited with code 3; expected 0 or 4", None)]


def test_a_signal_fails() -> None:
    assert ended(signal=11) == [("agent.signal", "the agent was ended by signal 11", None)]


def test_a_timeout_fails() -> None:
    assert ended("timed out") == [("agent.timeout", "the agent was still running after 300 s and was ended", None)]


def test_printing_without_end_fails() -> None:
    assert ended("printed too much") == [("agent.output", "the agent printed more than 256 MiB and was ended", None)]


def test_being_stopped_after_a_divergence_is_no_finding_of_its_own() -> None:
    assert ended("stopped after divergence", cause="model.divergence") == []


def test_an_exit_code_after_a_divergence_follows_from_it() -> None:
    assert [cause for _, _, cause in ended(code=1, cause="model.divergence")] == ["model.divergence"]


def test_an_interrupted_run_is_no_pass() -> None:
    assert [id for id, _, _ in ended("interrupted")] == ["agent.interrupted"]


def test_no_request_at_record_is_a_problem_that_says_what_to_do() -> None:
    found = verdicts.no_request("record", 0, HERE, None)
    assert found.kind == "problem"
    assert found.message == "no model request arrived at the boundary: nothing is recorded"
    assert "${flowproof.proxy_url}" in found.detail


def test_no_request_at_replay_is_a_failure_of_the_agent() -> None:
    found = verdicts.no_request("replay", 3, HERE, "agent.exit")
    assert (found.kind, found.caused_by) == ("check", "agent.exit")
    assert found.message == "no model request arrived at the boundary; 3 were recorded"
    assert found.detail == "the agent ended before its first request: its output tells why"


def exchange(dialect: str | None, path: str = "/v1/models") -> Exchange:
    return Exchange(Request("GET", path, "", BytesBody(b"")), Reply(200, BytesBody(b"")), dialect)


RECORDED = [exchange("openai-chat"), exchange(None), exchange("openai-chat"), exchange("openai-chat")]


def test_unserved_turns_are_counted_as_turns() -> None:
    (found,) = verdicts.unserved([1, 2, 3], RECORDED, HERE, None)
    assert found.message == "2 of 3 recorded turns were not asked for: 2, 3"
    assert (found.expected, found.actual) == (3, 1)


def test_an_unserved_side_call_is_told_not_judged() -> None:
    assert not list(verdicts.unserved([1], RECORDED, HERE, None))
    assert list(verdicts.unserved_notes([1], RECORDED)) == ["recorded side call GET /v1/models was not made"]


def test_the_boundarys_own_findings_keep_what_they_say() -> None:
    entry = {"id": "mcp.unserved", "message": "m", "detail": "d", "kind": "problem", "severity": "critical"}
    (found,) = verdicts.of_entries(
        [
            {**entry, "caused_by": "mcp.divergence"},
        ],
        HERE,
    )
    assert (found.id, found.message, found.detail, found.kind, found.severity, found.caused_by, found.where) == (
        "mcp.unserved",
        "m",
        "d",
        "problem",
        "critical",
        "mcp.divergence",
        HERE,
    )


def test_a_problem_of_the_boundary_is_an_error() -> None:
    (found,) = verdicts.of_problems(["the disk is full"], HERE)
    assert (found.kind, found.message) == ("problem", "the disk is full")
