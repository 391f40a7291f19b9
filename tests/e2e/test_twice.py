"""`record --twice`: what varies is found at once, and pinned where it can be."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tests.e2e.scenario import Scenario, python

VARIES = """
import json, os, urllib.request, uuid
text = f"Session {uuid.uuid4()}. How is Nairobi? Trace {uuid.uuid4()}."
body = {"model": "brain-1", "messages": [{"role": "user", "content": text}]}
address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
request = urllib.request.Request(address, json.dumps(body).encode(), {"content-type": "application/json"})
urllib.request.urlopen(request).read()
"""


def test_an_agent_that_does_the_same_twice_needs_no_pin(scenario: Callable[..., Scenario]) -> None:
    outcome = scenario(python("openai_chat.py")).record("--twice")
    assert outcome.code == 0, outcome.said
    assert "the same twice" in outcome.stdout


def test_what_varies_is_told_with_its_pins_and_fails(scenario: Callable[..., Scenario]) -> None:
    flow = scenario([sys.executable, "-c", VARIES])
    before = flow.spec.read_text()
    outcome = flow.record("--twice")
    assert outcome.code == 1, outcome.said
    assert "two UUIDs" in outcome.stdout
    assert "printed nothing" not in outcome.stdout  # the recording's agent has nothing to do with it
    assert flow.spec.read_text() == before


def test_written_pins_make_it_replay(scenario: Callable[..., Scenario]) -> None:
    flow = scenario([sys.executable, "-c", VARIES])
    flow.spec.write_text("# keep me\n" + flow.spec.read_text())
    outcome = flow.record("--twice", "--write")
    assert outcome.code == 0, outcome.said
    assert flow.spec.read_text().startswith("# keep me\n")
    again = flow.run()
    assert again.code == 0, again.said
    assert len(again.flow.pins) == 2


BOTH = "How is Nairobi? both"


def test_an_order_of_parallel_tools_that_matters_is_found_though_two_runs_are_the_same(
    scenario: Callable[..., Scenario],
) -> None:
    flow = scenario(python("parallel.py", "list"), prompt=BOTH)
    outcome = flow.record("--twice", "--html", "report.html", "--junit", "junit.xml")
    assert outcome.code == 1, outcome.said
    again = outcome.flow.again
    assert again is not None
    assert (again.steady, again.order, again.left) == (False, "matters", ())
    assert again.pins[:3] == ("pins:", "  - at: metadata.ended", "    unordered: true")
    assert outcome.ids == ["record.twice"]
    assert "unordered: true" in outcome.stdout
    assert "unordered: true" in (flow.folder / "report.html").read_text()
    assert 'value="matters"' in (flow.folder / "junit.xml").read_text()
    assert flow.run().code == 0

    written = flow.record("--twice", "--write")
    assert written.code == 0, written.said
    assert written.flow.again is not None and written.flow.again.written
    assert "unordered: true" in flow.spec.read_text()
    steady = flow.record("--twice")
    assert steady.code == 0, steady.said
    assert "the same twice, also with parallel tools in the other order" in steady.stdout


def test_results_in_the_order_of_the_calls_are_the_same_in_either(scenario: Callable[..., Scenario]) -> None:
    for agent in (python("parallel.py", "calls"), python("openai_chat.py", "stream"), python("anthropic_messages.py")):
        outcome = scenario(agent, prompt=BOTH).record("--twice")
        assert outcome.code == 0, outcome.said
        assert outcome.flow.again is not None
        assert (outcome.flow.again.steady, outcome.flow.again.order) == (True, "the same"), outcome.said
        assert "the same twice, also with parallel tools in the other order" in outcome.stdout


def test_an_order_that_no_pin_allows_is_told_and_not_held_against_the_recording(
    scenario: Callable[..., Scenario],
) -> None:
    flow = scenario(python("parallel.py", "text"), prompt=BOTH)
    outcome = flow.record("--twice")
    assert outcome.code == 0, outcome.said
    assert outcome.flow.again is not None and outcome.flow.again.order == "matters"
    assert "with parallel tools in the other order turn 2: messages[4].content differs" in outcome.stdout
    assert flow.run().code == 0


def test_without_parallel_tools_there_is_no_other_order(scenario: Callable[..., Scenario]) -> None:
    outcome = scenario(python("openai_chat.py")).record("--twice")
    assert outcome.flow.again is not None and outcome.flow.again.order == "no parallel calls"
