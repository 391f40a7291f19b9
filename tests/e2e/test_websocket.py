"""The Responses WebSocket: refused so that clients take HTTP, and recorded and replayed where a spec lets it be."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tests.e2e import brain
from tests.e2e.scenario import Outcome, Scenario, python, shell, spec
from tests.e2e.sockets import SocketUpstream

type New = Callable[..., Scenario]

STEPS = ["assert_tool_call: get_weather", "assert: reply contains 31 degrees"]


@pytest.fixture
def model() -> Iterator[SocketUpstream]:
    with SocketUpstream(brain.answer) as server:
        yield server


@pytest.fixture
def flow(tmp_path: Path, model: SocketUpstream) -> Scenario:
    """An agent that keeps one socket for its turns, and sends only what is new."""
    folder = tmp_path / "work"
    folder.mkdir()
    file = folder / "flow.flow.yaml"
    agent = {"command": python("openai_responses.py", "socket"), "responses_websocket": True}
    file.write_text(yaml.safe_dump(spec(agent, STEPS), sort_keys=False))
    environment = {"FLOWPROOF_AGENT_UPSTREAM": model.url, "FLOWPROOF_AGENT_KEY": "sk-real-key-of-the-model"}
    return Scenario(folder, file, shell(tmp_path / "home", **environment))


def recorded(flow: Scenario) -> Outcome:
    outcome = flow.record()
    assert outcome.code == 0, outcome.said
    return outcome


def test_turns_over_a_socket_are_recorded_and_replayed(flow: Scenario, model: SocketUpstream) -> None:
    """Event for event, with no model there; a change of the agent diverges like any other."""
    first = recorded(flow)
    assert first.flow.counts.turns == 2
    assert model.keys == ["Bearer sk-real-key-of-the-model"]  # one connection
    assert next(message.get("previous_response_id") for message in model.said) is None
    assert model.said[1]["previous_response_id"].startswith("resp_")
    assert "sk-real-key" not in flow.cassette.read_text()
    turns = json.loads(flow.cassette.read_text())["model"]["turns"]
    assert [turn["dialect"] for turn in turns] == ["openai-responses"] * 2
    model.stop()
    replayed = flow.run()
    assert (replayed.code, replayed.printed) == (0, first.printed), replayed.said

    drifted = flow.run(AGENT_SYSTEM="You are wordy.")
    assert (drifted.code, drifted.ids[0]) == (1, "model.divergence"), drifted.said
    assert '"type":"error","status":400' in drifted.printed.replace(": ", ":").replace(", ", ",")
    assert "instructions" in drifted.told


def test_by_default_a_client_is_sent_to_http_at_once(scenario: New) -> None:
    flow = scenario(python("openai_responses.py", "socket"), STEPS)
    for outcome in (flow.record(), flow.run()):
        assert outcome.code == 0, outcome.said
        assert outcome.flow.folder is not None
        stderr = (flow.folder / outcome.flow.folder / "stderr.txt").read_text()
        assert stderr == "no socket: 426\nno socket: 426\n"
    flow.change(agent={"responses_websocket": True})  # what was recorded over HTTP replays over a socket
    replayed = flow.run()
    assert (replayed.code, '"type":"response.completed"' in replayed.printed) == (0, True), replayed.said


def test_a_socket_that_broke_breaks_again(flow: Scenario, model: SocketUpstream) -> None:
    flow.change(agent={"expect_exit": 1}, steps=[{"prompt": "x"}, {"assert_no_tool_call": "get_time"}])
    model.cut = 4
    first = recorded(flow)
    assert len(first.printed.splitlines()) == 4
    model.stop()
    replayed = flow.run()
    assert (replayed.code, replayed.printed) == (0, first.printed), replayed.said


def test_an_upstream_that_is_not_there_is_named(flow: Scenario, model: SocketUpstream) -> None:
    model.stop()
    outcome = flow.record()
    assert outcome.code == 2, outcome.said
    assert model.url in outcome.told
