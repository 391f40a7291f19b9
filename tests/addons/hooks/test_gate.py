"""Who may speak to a session, and what is answered without a recording."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flowproof_addons.dialects.registry import default
from flowproof_addons.hooks.crossing import Sessions, of
from flowproof_addons.hooks.gate import Gate

PORT = 4711


@pytest.fixture
def gate(sessions: Sessions) -> Gate:
    return Gate(sessions, default())


def test_a_turn_is_read_and_counted(gate: Gate, sessions: Sessions, make_live: Any, make_flow: Any, heard: Any) -> None:
    live = sessions[PORT] = make_live()
    flow = make_flow()
    asyncio.run(gate.request(flow))
    crossing = of(flow)
    assert crossing is not None
    assert (crossing.dialect and crossing.dialect.name, live.turns, live.side_calls) == ("openai-chat", 1, 0)
    assert heard.kinds() == ["turn"]


def test_a_side_call_is_no_turn(gate: Gate, sessions: Sessions, make_live: Any, make_flow: Any, heard: Any) -> None:
    live = sessions[PORT] = make_live()
    asyncio.run(gate.request(make_flow(path="/v1/messages/count_tokens")))
    assert (live.turns, live.side_calls, heard.kinds()) == (0, 1, [])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "attacker.example"}, 421),
        ({"host": "127.0.0.1.attacker.example:4711"}, 421),
        ({"origin": "https://attacker.example"}, 421),
        ({"upgrade": "websocket"}, 426),
        ({"host": "localhost:4711"}, None),
        ({"host": "[::1]:4711"}, None),
    ],
)
def test_strangers_are_turned_away_and_websockets_fall_back(
    headers: dict[str, str], status: int | None, gate: Gate, sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    live = sessions[PORT] = make_live()
    flow = make_flow(headers=headers)
    asyncio.run(gate.request(flow))
    assert (flow.response.status_code if flow.response else None) == status
    assert live.turns == (status is None)


def test_head_is_answered_by_policy_and_counts_as_nothing(
    gate: Gate, sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    live = sessions[PORT] = make_live()
    flow = make_flow(method="HEAD", path="/api/hello")
    asyncio.run(gate.request(flow))
    assert (flow.response.status_code, live.turns, live.side_calls) == (200, 0, 0)
    assert live.close()["policy"] == [{"method": "HEAD", "path": "/api/hello", "client": "", "status": 200}]


@pytest.mark.parametrize("loaded", [{"port": 9}, {"live": False}])
def test_other_flows_are_left_alone(
    loaded: dict[str, Any], gate: Gate, sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    sessions[PORT] = make_live()
    flow = make_flow(**loaded)
    asyncio.run(gate.request(flow))
    assert (of(flow), flow.response) == (None, None)


@pytest.mark.parametrize(
    ("body", "headers", "words"),
    [
        (b"not gzip", {"content-encoding": "gzip"}, "gzip"),
        (b'{"model":"a","model":"b"}', {}, "'model'"),
        (b"{cut", {}, "says it is JSON"),
    ],
)
def test_a_body_that_cannot_be_compared_is_a_problem_and_an_error(
    body: bytes, headers: dict[str, str], words: str, gate: Gate, sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    live = sessions[PORT] = make_live()
    flow = make_flow(body=body, headers=headers)
    asyncio.run(gate.request(flow))
    assert flow.response.status_code == 400
    assert flow.response.headers["x-should-retry"] == "false"
    assert words in live.problems[0]
