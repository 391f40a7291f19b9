"""Recording from a mock server that is not ours: `@copilotkit/aimock` from the npm registry."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e import groups
from tests.e2e.scenario import BIN, PATIENCE_S, Scenario, node, python, shell

type New = Callable[..., Scenario]

CITY = {"city": "Nairobi"}
FIXTURES = {
    "fixtures": [
        {
            "match": {"userMessage": "Nairobi", "hasToolResult": False},
            "response": {"toolCalls": [{"name": name, "arguments": CITY} for name in ("get_weather", "get_time")]},
        },
        {"match": {"userMessage": "Nairobi"}, "response": {"content": "Told: it is noon and 31 degrees."}},
    ]
}
AGENTS = [
    python("openai_chat.py", "sync"),
    python("openai_chat.py", "stream"),
    python("openai_responses.py", "stream"),
    python("anthropic_messages.py", "async"),
    python("anthropic_messages.py", "stream"),
    node("openai_chat.mjs", "stream"),
]


@pytest.fixture
def aimock(tmp_path: Path, node_modules: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The mock server's address, and the server to end."""
    script = tmp_path / "fixtures.json"
    script.write_text(json.dumps(FIXTURES))
    program = node_modules / "@copilotkit/aimock/dist/cli.js"
    command = [str(word) for word in (BIN / "node", program, "-p", "0", "-f", script, "--strict")]
    with (tmp_path / "aimock.log").open("w") as log:
        home = shell(tmp_path / "aimock-home")
        process = subprocess.Popen(command, stdout=log, stderr=log, env=home, start_new_session=True)
    try:
        yield _address(tmp_path / "aimock.log", process), process
    finally:
        groups.end(process)


def _address(log: Path, process: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + PATIENCE_S
    while not (found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", log.read_text())):
        assert process.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.02)
    return found[1]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda command: "-".join(w.rpartition("/")[2] for w in command[1:]))
def test_its_random_ids_come_back_the_same(
    agent: list[str], scenario: New, aimock: tuple[str, subprocess.Popen[bytes]]
) -> None:
    url, server = aimock
    calls = ["assert_tool_call: get_weather where city equals Nairobi", "assert_tool_call: get_time"]
    flow = scenario(agent, [*calls, "assert: reply contains 31 degrees"])
    recorded = flow.record(FLOWPROOF_AGENT_UPSTREAM=url)
    assert recorded.code == 0, recorded.said
    groups.end(server)
    replayed = flow.run()
    assert (replayed.code, replayed.printed) == (0, recorded.printed), replayed.said

    flow.change(agent={"env": {"AGENT_DESCRIPTION": "Tell the weather on a planet."}})
    drifted = flow.run()
    assert (drifted.code, drifted.ids[0]) == (1, "model.divergence"), drifted.said
