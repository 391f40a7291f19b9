"""`record --twice`: what varies is found at once, and pinned where it can be."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tests.e2e.scenario import Outcome, Scenario, python

from flowproof_runner.result import Again, FlowResult

type New = Callable[..., Scenario]

VARIES = """
import datetime, json, os, random, secrets, urllib.request, uuid
day = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=random.randrange(10**7))
facts = [
    f"Today is {day.date()}.", f"It is {day.time()}.", f"Begun at {day.isoformat()}Z.",
    f"Session {uuid.uuid4()}.", f"Trace {uuid.uuid4()}.", f"Call call_{secrets.token_hex(12)}.",
    f"Files are in /tmp/run-{secrets.token_hex(4)}/work.", f"Logs are in /srv/run-{secrets.token_hex(4)}/logs.",
]
messages = [{"role": "user", "content": fact} for fact in ["How is Nairobi?", *facts]]
body = {"model": "brain-1", "messages": messages}
address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
request = urllib.request.Request(address, json.dumps(body).encode(), {"content-type": "application/json"})
urllib.request.urlopen(request).read()
"""
BOTH = "How is Nairobi? both"
"""The model asks for two tools at once."""
IN_THEIR_ORDER = {
    "calls": python("parallel.py", "calls"),
    "streamed": python("openai_chat.py", "stream"),
    "messages": python("anthropic_messages.py"),
}
"""Agents that tell results in the order of the calls."""


def result(outcome: Outcome, name: str) -> FlowResult:
    assert outcome.report is not None, outcome.said
    (flow,) = (flow for flow in outcome.report.flows if flow.spec == f"{name}.flow.yaml")
    return flow


def again(outcome: Outcome, name: str) -> Again:
    told = result(outcome, name).again
    assert told is not None
    return told


def test_an_agent_that_does_the_same_twice_needs_no_pin(scenario: New) -> None:
    for name, agent in IN_THEIR_ORDER.items():
        scenario(agent, prompt=BOTH, name=name)
    outcome = scenario(python("openai_chat.py")).cli("record", ".", "--twice")
    assert outcome.code == 0, outcome.said
    assert (again(outcome, "flow").steady, again(outcome, "flow").order) == (True, "no parallel calls")
    assert "flow.flow.yaml: the same twice\n" in outcome.stdout
    for name in IN_THEIR_ORDER:
        assert (again(outcome, name).steady, again(outcome, name).order) == (True, "the same")
        assert f"{name}.flow.yaml: the same twice, also with parallel tools in the other order" in outcome.stdout


def test_what_varies_is_told_with_its_pins_and_written_where_that_is_asked_for(scenario: New) -> None:
    flow = scenario([sys.executable, "-c", VARIES])
    flow.spec.write_text("# keep me\n" + flow.spec.read_text())
    before = flow.spec.read_text()
    outcome = flow.record("--twice")
    assert (outcome.code, outcome.ids) == (1, ["record.twice"]), outcome.said
    told = [one.kind for one in again(outcome, "flow").differences]
    assert told == [
        *("two dates", "two clock times", "two timestamps", "two UUIDs", "two UUIDs", "two generated ids"),
        *("two temporary paths", "two paths"),
    ]
    assert again(outcome, "flow").left == ()
    assert flow.spec.read_text() == before

    written = flow.record("--twice", "--write")
    assert written.code == 0, written.said
    assert flow.spec.read_text().startswith("# keep me\n")
    replayed = flow.run()
    assert replayed.code == 0, replayed.said
    assert [pin.count for pin in replayed.flow.pins] == [1] * 8


def test_an_order_of_parallel_tools_that_matters_is_found_though_two_runs_are_the_same(scenario: New) -> None:
    text = scenario(python("parallel.py", "text"), prompt=BOTH, name="text")
    flow = scenario(python("parallel.py", "list"), prompt=BOTH)
    outcome = flow.cli("record", ".", "--twice", "--html", "report.html", "--junit", "junit.xml")
    assert outcome.code == 1, outcome.said
    told = again(outcome, "flow")
    assert (told.steady, told.order, told.left) == (False, "matters", ())
    assert told.pins[:3] == ("pins:", "  - at: metadata.ended", "    unordered: true")
    assert [finding.id for finding in result(outcome, "flow").findings] == ["record.twice"]
    assert "unordered: true" in outcome.stdout
    assert "unordered: true" in (flow.folder / "report.html").read_text()
    assert 'value="matters"' in (flow.folder / "junit.xml").read_text()

    # One that no pin allows is told and not held against the recording.
    assert result(outcome, "text").verdict == "pass"
    assert again(outcome, "text").order == "matters"
    assert "with parallel tools in the other order turn 2: messages[4].content differs" in outcome.stdout
    assert flow.cli("run", ".").code == 0

    text.spec.unlink()
    written = flow.record("--twice", "--write")
    assert written.code == 0 and again(written, "flow").written, written.said
    assert "unordered: true" in flow.spec.read_text()
    steady = flow.record("--twice")
    assert steady.code == 0, steady.said
    assert "the same twice, also with parallel tools in the other order" in steady.stdout
