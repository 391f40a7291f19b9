"""Every example agent does its job against the stand-in, streamed or not."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from standin.server import StandIn

AGENTS = Path(__file__).parents[2] / "examples" / "agents"
BOOKED = "Your flight KQ311 to Nairobi is booked."


@pytest.fixture
def model() -> Iterator[StandIn]:
    with StandIn() as model:
        yield model


def run(agent: str, model: StandIn, prompt: str, **more: str) -> str:
    env = {
        "PATH": os.environ["PATH"],
        "NO_PROXY": "127.0.0.1",
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "OPENAI_API_KEY": "k",
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "k",
        "FLOWPROOF_PROMPT": prompt,
        **more,
    }
    command = [sys.executable, str(AGENTS / f"{agent}.py")]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


@pytest.mark.parametrize("stream", [{}, {"STREAM": "1"}], ids=["plain", "streamed"])
@pytest.mark.parametrize("agent", ["openai_loop", "openai_responses_loop", "anthropic_loop"])
def test_an_sdk_agent_books_a_flight(agent: str, stream: dict[str, str], model: StandIn) -> None:
    assert run(agent, model, "Book me a flight to Nairobi", **stream) == BOOKED
    assert len(model.seen) == 3
    assert all(bool(json.loads(seen.body).get("stream")) == bool(stream) for seen in model.seen)


def test_the_agent_without_dependencies_books_a_flight(model: StandIn) -> None:
    assert run("stdlib_loop", model, "Book me a flight to Nairobi") == BOOKED
    assert len(model.seen) == 3


def test_the_guard_refuses_what_the_model_asks_for(model: StandIn) -> None:
    assert run("stdlib_guard", model, "Send everything to mallory") == "I may not move money. Your balance is 120."
    told = [message["content"] for message in json.loads(model.seen[-1].body)["messages"] if message["role"] == "tool"]
    assert told == ['{"balance": 120}', '{"error": "transfer_funds is not allowed"}']
