"""One flow from end to end, over a boundary whose outcome each test decides."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from flowproof_addons.dialects.registry import default
from flowproof_addons.errors import FlowproofError
from flowproof_addons.session import Session
from flowproof_addons.trace import file
from flowproof_addons.trace.model import BytesBody, Exchange, JsonBody, JsonValue, Phase, Reply, Request
from flowproof_runner.boundary.outcome import Outcome
from flowproof_runner.drivers.dialogue import Settling
from flowproof_runner.flow.flows import Flows
from flowproof_runner.flow.plan import Surroundings
from flowproof_runner.result import FlowResult
from flowproof_runner.spec.file import load
from flowproof_runner.suite.file import Suites

TODAY = datetime(2026, 12, 2, tzinfo=UTC)
SPEC = """\
name: Looks it up
app: agent
agent:
  command: [{python}, -I, -S, -c, {script}]
  timeout: 20s
{more}
steps:
  - prompt: Look it up
  - assert_tool_call: lookup where key equals a
  - assert: reply contains found
"""


def body(value: JsonValue) -> JsonBody:
    return JsonBody(value)


def turn(messages: list[JsonValue], message: dict[str, JsonValue]) -> Exchange:
    """A Chat Completions turn."""
    request: JsonValue = {
        "model": "m",
        "messages": messages,
        "tools": [{"type": "function", "function": {"name": "lookup"}}],
    }
    reply: JsonValue = {
        "id": "c",
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
    }
    return Exchange(
        Request("POST", "/v1/chat/completions", "", body(request)), Reply(200, body(reply)), dialect="openai-chat"
    )


CALL: dict[str, JsonValue] = {
    "content": None,
    "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "lookup", "arguments": '{"key": "a"}'}}],
}
USER: JsonValue = {"role": "user", "content": "Look it up"}
TOLD: JsonValue = {"role": "tool", "tool_call_id": "t1", "content": "42"}
TURNS = (
    turn([USER], CALL),
    turn([USER, {"role": "assistant", **CALL}, TOLD], {"content": "I found 42"}),
)
NOTHING = Outcome((), 0, 0, (), (), (), (), {}, (), (), (), {})
GOOD = replace(NOTHING, exchanges=TURNS, turns=2)
DIVERGED: dict[str, JsonValue] = {
    "message": "request 2 is not the recorded one",
    "detail": "- a\n+ b",
    "path": "messages[0]",
}


@dataclass
class OpenSession:
    outcome: Outcome
    url: str = "http://127.0.0.1:9"
    mcp_urls: Mapping[str, str] = field(default_factory=dict)
    mcp_servers: Mapping[str, str] = field(default_factory=dict)
    diverged: Event = field(default_factory=Event)

    def begin(self, user_turn: int) -> None:
        raise AssertionError(f"no flow here has a user turn {user_turn}")

    def settling(self, user_turn: int) -> Settling | None:
        raise AssertionError(f"no flow here has a user turn {user_turn}")

    def arrived(self) -> int:
        return self.outcome.turns

    def close(self) -> Outcome:
        return self.outcome


@dataclass
class Boundary:
    """Answers every session with one outcome, and keeps what it was asked."""

    outcome: Outcome = GOOD
    error: FlowproofError | None = None
    asked: list[Session] = field(default_factory=list)

    def load(self, addon: Path) -> None:
        raise AssertionError(f"no suite here names {addon}")

    def open(self, session: Session) -> OpenSession:
        self.asked.append(session)
        if self.error is not None:
            raise self.error
        opened = OpenSession(self.outcome)
        if self.outcome.divergences:
            opened.diverged.set()
        return opened


@dataclass
class Scenario:
    """A folder with one spec; runs it over a boundary."""

    folder: Path
    shell: dict[str, str] = field(
        default_factory=lambda: {
            "PATH": "/usr/bin:/bin",
            "FLOWPROOF_AGENT_UPSTREAM": "https://model.example/v1",
            "FLOWPROOF_AGENT_KEY": "sk-very-secret",
        }
    )

    @property
    def cassette(self) -> Path:
        return self.folder / "lookup.trace.json"

    def spec(self, script: str = "pass", more: str = "", text: str = SPEC) -> Path:
        path = self.folder / "lookup.flow.yaml"
        path.write_text(text.format(python=json.dumps(sys.executable), script=json.dumps(script), more=more))
        return path

    def run(
        self, phase: Phase, boundary: Boundary, cancelled: Event | None = None, *, now: datetime = TODAY
    ) -> FlowResult:
        folder = self.folder / f"run-{len(list(self.folder.glob('run-*')))}"
        folder.mkdir()
        around = Surroundings(self.shell, self.folder, default())
        flows = Flows(boundary, around, cancelled or Event(), now=lambda: now)
        path = self.folder / "lookup.flow.yaml"
        return flows.within(Suites().beside(path)).run(load(path), phase, folder)

    def recorded(self, script: str = "pass", more: str = "") -> Scenario:
        self.spec(script, more)
        assert self.run("record", Boundary()).verdict == "pass"
        return self


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    return Scenario(tmp_path)


def ids(result: FlowResult) -> list[tuple[str, str | None]]:
    return [(found.id, found.caused_by) for found in result.findings]


def test_a_recording_whose_assertions_hold_becomes_the_cassette(scenario: Scenario) -> None:
    scenario.spec()
    result = scenario.run("record", Boundary())
    assert (result.verdict, result.exit_code, result.findings) == ("pass", 0, ())
    trace = file.load(scenario.cassette)
    assert (trace.exchanges, trace.recorded_at) == (TURNS, "2026-12-02T00:00:00Z")
    assert [step.ok for step in result.steps] == [True, True]
    assert (result.counts.turns, result.counts.tool_calls, result.counts.input_tokens) == (2, 1, 14)


def test_a_recording_whose_assertions_do_not_hold_is_not_kept(scenario: Scenario) -> None:
    scenario.spec()
    result = scenario.run("record", Boundary(replace(GOOD, exchanges=TURNS[:1], turns=1)))
    assert result.verdict == "fail"
    assert not scenario.cassette.exists()
    assert result.trace is not None and (scenario.folder / result.trace).exists()


def test_a_failed_recording_leaves_the_old_cassette_as_it_was(scenario: Scenario) -> None:
    before = scenario.recorded().cassette.read_bytes()
    assert scenario.run("record", Boundary(replace(GOOD, exchanges=TURNS[:1], turns=1))).verdict == "fail"
    assert scenario.cassette.read_bytes() == before


def test_a_recording_without_a_request_is_an_error_and_writes_nothing(scenario: Scenario) -> None:
    scenario.spec()
    result = scenario.run("record", Boundary(NOTHING))
    assert (result.verdict, result.exit_code, ids(result)[0]) == ("error", 2, ("model.no-request", None))
    assert "${flowproof.proxy_url}" in result.findings[0].detail
    assert not scenario.cassette.exists()


def test_an_agent_that_crashes_before_its_first_request_is_shown_with_its_last_words(scenario: Scenario) -> None:
    scenario.spec("import sys; sys.exit('no module named agent')")
    result = scenario.run("record", Boundary(NOTHING))
    assert ids(result)[:2] == [("agent.exit", None), ("model.no-request", "agent.exit")]
    assert result.agent is not None and result.agent.tail == ("no module named agent",)


def test_the_upstreams_are_the_boundarys_only_at_record(scenario: Scenario) -> None:
    boundary = Boundary()
    scenario.spec()
    scenario.run("record", boundary)
    scenario.run("replay", boundary)
    record, replay = boundary.asked
    assert record.upstreams["openai-chat"].key == "sk-very-secret"
    assert (record.cassette, replay.cassette) == (None, scenario.cassette)
    assert replay.upstreams == {}


def test_no_upstream_is_an_error_before_the_agent_starts(scenario: Scenario) -> None:
    scenario.spec()
    scenario.shell = {}
    boundary = Boundary()
    result = scenario.run("record", boundary)
    assert (result.exit_code, boundary.asked) == (2, [])
    assert "no model to record from" in result.findings[0].message


def test_a_replay_that_does_as_recorded_passes(scenario: Scenario) -> None:
    result = scenario.recorded().run("replay", Boundary())
    assert (result.verdict, result.findings, result.notes) == ("pass", (), ())
    assert (result.counts.turns, result.counts.recorded_turns) == (2, 2)


def test_a_replay_never_writes_the_cassette(scenario: Scenario) -> None:
    before = scenario.recorded().cassette.stat()
    scenario.run("replay", Boundary(replace(GOOD, exchanges=TURNS[:1], turns=1)))
    after = scenario.cassette.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize(
    ("max_age", "verdict", "said"),
    [
        ("40d", "pass", ""),
        ("30d", "fail", "the cassette is 31 days old; max_age of the suite is 30"),
        ("{warn: 30d, fail: 40d}", "pass", "the cassette is 31 days old and may be 40: record it again before long"),
        ("{warn: 5d}", "pass", "the cassette is 31 days old: record it again before long"),
        ("{warn: 5d, fail: 9d}", "fail", "the cassette is 31 days old; max_age of the suite is 9"),
    ],
)
def test_a_suite_says_how_old_a_recording_may_be(scenario: Scenario, max_age: str, verdict: str, said: str) -> None:
    scenario.recorded()
    (scenario.folder / "suite.yaml").write_text(f"max_age: {max_age}\n")
    recorded = datetime.fromisoformat(file.load(scenario.cassette).recorded_at)
    result = scenario.run("replay", Boundary(), now=recorded + timedelta(days=31, hours=5))
    assert result.verdict == verdict
    assert [*(found.message for found in result.findings), *result.notes] == ([said] if said else [])


REPORTS = """\
  output: file out.json
expect:
  outcome:
    - out.ok equals true"""


@pytest.mark.parametrize(
    ("script", "there", "ids"),
    [
        ("open('out.json', 'w').write('{\"ok\": true}')", "", []),
        ("open('out.json', 'w').write('{\"ok\": false}')", "", ["outcome.output_subset"]),
        ("pass", "", ["outcome.reference_unresolved", "outcome.unavailable"]),
        ("pass", '{"ok": true}', ["outcome.reference_unresolved", "outcome.unavailable"]),
    ],
)
def test_an_outcome_in_a_file_is_what_this_run_left(
    scenario: Scenario, script: str, there: str, ids: list[str]
) -> None:
    if there:
        (scenario.folder / "out.json").write_text(there)
    scenario.spec(script, REPORTS)
    result = scenario.run("record", Boundary())
    assert [found.id for found in result.findings] == ids, result.findings
    why = "file 'out.json' is of an earlier run; this one did not write it" if there else "the agent wrote no file"
    assert any(why in note for note in result.notes) is ("open" not in script)


def test_a_missing_cassette_is_an_error_that_says_how_to_record(scenario: Scenario) -> None:
    path = scenario.spec()
    result = scenario.run("replay", Boundary())
    assert (result.verdict, result.exit_code) == ("error", 2)
    assert f"record it first: flowproof record {path}" in result.findings[0].message


@pytest.mark.parametrize("text", ['{"flowproof": 1', '{"flowproof": 9}', "<<<<<<< ours\n", ""])
def test_a_broken_cassette_is_an_error_and_stays_as_it_is(scenario: Scenario, text: str) -> None:
    scenario.spec()
    scenario.cassette.write_text(text)
    result = scenario.run("replay", Boundary())
    assert (result.verdict, result.exit_code) == ("error", 2)
    assert str(scenario.cassette) in result.findings[0].message
    assert scenario.cassette.read_text() == text


def test_a_divergence_fails_and_explains_what_follows_from_it(scenario: Scenario) -> None:
    scenario.recorded("raise SystemExit(0)").spec("raise SystemExit(1)")
    outcome = replace(GOOD, exchanges=TURNS[:1], turns=2, divergences=(DIVERGED,), unserved=(1,))
    result = scenario.run("replay", Boundary(outcome))
    assert (result.verdict, result.exit_code) == ("fail", 1)
    (first, none), *others = ids(result)
    assert (first, none) == ("model.divergence", None)
    assert {cause for _, cause in others} == {"model.divergence"}
    assert ("agent.exit", "model.divergence") in others
    assert ("model.unserved", "model.divergence") in others


def test_turns_nobody_asked_for_fail(scenario: Scenario) -> None:
    outcome = replace(GOOD, unserved=(1,))
    assert ids(scenario.recorded().run("replay", Boundary(outcome))) == [("model.unserved", None)]


def test_the_agents_exit_code_fails_a_run_that_is_otherwise_right(scenario: Scenario) -> None:
    scenario.recorded().spec("raise SystemExit(3)")
    result = scenario.run("replay", Boundary())
    assert (result.verdict, result.exit_code, ids(result)) == ("fail", 1, [("agent.exit", None)])


def test_an_exit_code_the_spec_expects_passes(scenario: Scenario) -> None:
    scenario.recorded("raise SystemExit(3)", more="  expect_exit: [0, 3]")
    assert scenario.run("replay", Boundary()).verdict == "pass"


def test_what_the_agent_prints_decides_nothing(scenario: Scenario) -> None:
    scenario.recorded().spec("print('PASSED, booked, found')")
    assert scenario.run("replay", Boundary(replace(GOOD, exchanges=TURNS[:1], turns=2))).verdict == "fail"


def test_a_problem_of_the_boundary_is_an_error_though_all_else_holds(scenario: Scenario) -> None:
    result = scenario.recorded().run("replay", Boundary(replace(GOOD, problems=("the hook raised",))))
    assert (result.verdict, result.exit_code, ids(result)) == ("error", 2, [("boundary.problem", None)])


def test_a_boundary_that_cannot_serve_is_an_error_of_the_flow(scenario: Scenario) -> None:
    result = scenario.recorded().run("replay", Boundary(error=FlowproofError("port 80 is taken")))
    assert (result.verdict, result.findings[0].message) == ("error", "port 80 is taken")


def test_a_lanes_findings_are_the_flows(scenario: Scenario) -> None:
    lane: JsonValue = {"lane": None, "findings": [{"id": "mcp.unserved", "message": "files: 1 call not made"}]}
    result = scenario.recorded().run("replay", Boundary(replace(GOOD, lanes={"files": lane})))
    assert ids(result) == [("mcp.unserved", None)]


def test_edited_results_are_an_error_until_recorded_again(scenario: Scenario) -> None:
    scenario.recorded(more="tools: [{name: lookup, result: 1}]").spec(more="tools: [{name: lookup, result: 2}]")
    result = scenario.run("replay", Boundary())
    assert (result.verdict, result.exit_code) == ("error", 2)
    assert "are not those lookup.trace.json was recorded with" in result.findings[0].message
    assert scenario.run("record", Boundary()).verdict == "pass"
    assert scenario.run("replay", Boundary()).verdict == "pass"


def test_an_edited_spec_is_told(scenario: Scenario) -> None:
    scenario.recorded().spec("print(1)")
    result = scenario.run("replay", Boundary())
    assert (result.verdict, len(result.notes)) == ("pass", 1)
    assert "edited after its cassette was recorded" in result.notes[0]


def test_a_flow_is_skipped_by_name_unless_its_variables_are_set(scenario: Scenario) -> None:
    scenario.spec(more="skip_unless_env: [LIVE_KEY, OTHER]")
    scenario.shell["OTHER"] = "x"
    result = scenario.run("replay", Boundary())
    assert (result.verdict, result.exit_code, result.reason) == ("skip", 0, "LIVE_KEY is not set")


def test_an_unset_variable_is_an_error_that_names_it(scenario: Scenario) -> None:
    scenario.spec(more="  env: {A: '${NOT_THERE}'}")
    result = scenario.run("record", Boundary())
    assert result.verdict == "error"
    assert "NOT_THERE is not set" in result.findings[0].message


def test_pins_are_listed_with_how_often_they_were_needed(scenario: Scenario) -> None:
    more = "pins: [{at: messages, why: a reason, name: first}, {at: model, name: second}]"
    result = scenario.recorded(more=more).run("replay", Boundary(replace(GOOD, pins={"first": 2})))
    assert [(pin.name, pin.count, pin.why) for pin in result.pins] == [("first", 2, "a reason"), ("second", 0, "")]


def test_no_secret_is_left_in_what_the_agent_printed_or_in_the_result(scenario: Scenario) -> None:
    script = "import os, sys; print(os.environ['DB']); sys.exit('cannot log in with ' + os.environ['DB'])"
    scenario.spec(script, more="  env: {DB: '${DB_PASSWORD}'}\nredact: {values: ['${DB_PASSWORD}']}")
    scenario.shell["DB_PASSWORD"] = "hunter2-hunter2"
    result = scenario.run("record", Boundary(NOTHING))
    assert result.agent is not None and result.agent.tail == ("cannot log in with ${DB_PASSWORD}",)
    everything = b"".join(path.read_bytes() for path in scenario.folder.rglob("*") if path.is_file())
    assert b"hunter2" not in everything + result.model_dump_json().encode()


def test_a_cancelled_flow_is_no_pass(scenario: Scenario) -> None:
    cancelled = Event()
    cancelled.set()
    scenario.recorded().spec("import time; time.sleep(60)")
    assert ids(scenario.run("replay", Boundary(), cancelled))[0] == ("agent.interrupted", None)


def test_an_unserved_side_call_is_a_note(scenario: Scenario) -> None:
    side = Exchange(Request("GET", "/v1/models", "", BytesBody(b"")), Reply(200, BytesBody(b"")))
    scenario.spec()
    scenario.run("record", Boundary(replace(GOOD, exchanges=(side, *TURNS), side_calls=1)))
    result = scenario.run("replay", Boundary(replace(GOOD, unserved=(0,))))
    assert (result.verdict, result.notes) == ("pass", ("recorded side call GET /v1/models was not made",))


def suite(scenario: Scenario, text: str) -> None:
    (scenario.folder / "suite.yaml").write_text(text)


def test_a_suites_variables_reach_the_agent_below_its_own(scenario: Scenario) -> None:
    suite(scenario, "env: {A: suite, B: '${flowproof.proxy_url}', C: suite}\nenv_from: .env")
    (scenario.folder / ".env").write_text("OPENAI_API_KEY=sk-real\nD=file\nFLOWPROOF_AGENT_KEY=k\n")
    names = "'A', 'B', 'C', 'D', 'OPENAI_API_KEY', 'FLOWPROOF_AGENT_KEY'"
    scenario.spec(f"import os; print([os.environ.get(n) for n in ({names})])", more="  env: {C: spec}")
    result = scenario.run("record", Boundary())
    assert result.agent is not None and result.agent.stdout is not None
    printed = (scenario.folder / result.agent.stdout).read_text()
    assert printed == "['suite', 'http://127.0.0.1:9/v1', 'spec', 'file', 'flowproof-placeholder-key', None]\n"


def test_commands_run_before_and_after_each_flow(scenario: Scenario) -> None:
    suite(scenario, "before_each: [touch before]\nafter_each: [touch after]")
    scenario.spec("import os; assert os.path.exists('before') and not os.path.exists('after')")
    assert scenario.run("record", Boundary()).verdict == "pass"
    assert (scenario.folder / "after").exists()


def test_a_failing_command_before_is_an_error_and_the_agent_is_not_run(scenario: Scenario) -> None:
    suite(scenario, "before_each:\n  - [sh, -c, 'echo no database >&2; exit 4']\nafter_each: [touch after]")
    scenario.spec("open('ran', 'w')")
    result = scenario.run("record", Boundary())
    assert (result.verdict, result.exit_code) == ("error", 2)
    found = result.findings[0]
    assert (found.id, found.message, found.detail) == (
        "suite.before-each",
        "before_each: 'sh' failed with exit code 4",
        "no database",
    )
    assert found.where == f"{scenario.folder / 'suite.yaml'}:1"
    assert not (scenario.folder / "ran").exists()
    assert (scenario.folder / "after").exists()


def test_a_missing_command_after_is_an_error(scenario: Scenario) -> None:
    suite(scenario, "after_each: no-such-program-here")
    scenario.spec()
    result = scenario.run("record", Boundary())
    assert (result.verdict, ids(result)) == ("error", [("suite.after-each", None)])
    assert result.findings[0].message.startswith("after_each: 'no-such-program-here' was not found")


def test_a_suites_commands_get_no_upstream_key(scenario: Scenario) -> None:
    suite(scenario, "before_each: [[sh, -c, 'echo key=$FLOWPROOF_AGENT_KEY > seen']]")
    scenario.spec()
    scenario.run("record", Boundary())
    assert (scenario.folder / "seen").read_text() == "key=\n"
