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
