"""A hook of ours that raises ends the flow; it never lets the request through."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mitmproxy import http

from flowproof_addons.dialects.base import Registry
from flowproof_addons.dialects.openai_chat import OpenAIChat
from flowproof_addons.dialects.registry import default
from flowproof_addons.hooks.crossing import Sessions
from flowproof_addons.hooks.fail_closed import fail_closed
from flowproof_addons.hooks.gate import Gate


class Broken:
    @fail_closed
    def request(self, flow: http.HTTPFlow) -> None:
        raise KeyError("a bug")

    @fail_closed
    async def response(self, flow: http.HTTPFlow) -> None:
        raise KeyError("a bug")


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/chat/completions", 400), ("/v1/messages", 406), ("/v1/models", 400)]
)
def test_the_agent_gets_an_error_it_does_not_retry_and_the_verdict_is_error(
    path: str, status: int, sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    live = sessions[4711] = make_live()
    flow = make_flow(path=path)
    asyncio.run(Gate(sessions, default()).request(flow))
    asyncio.run(Broken().request(flow))
    assert (flow.response.status_code, flow.response.headers["x-should-retry"]) == (status, "false")
    assert "KeyError: 'a bug'" in live.problems[0]


class Careless(OpenAIChat):
    """A dialect of somebody's own that cannot bear a path."""

    name = "careless"

    def claims(self, method: str, path: str) -> bool:
        raise KeyError(path)


def test_a_request_nobody_could_read_makes_the_verdict_error_too(
    sessions: Sessions, make_live: Any, make_flow: Any
) -> None:
    """Else an agent that bears the error would be recorded without it, and replay green for ever."""
    live = sessions[4711] = make_live()
    flow = make_flow()
    asyncio.run(Gate(sessions, Registry((Careless(),))).request(flow))
    assert (flow.response.status_code, flow.response.headers["x-should-retry"]) == (400, "false")
    (problem,) = live.problems
    assert "KeyError: '/v1/chat/completions'" in problem


def test_asynchronous_hooks_are_wrapped_too(sessions: Sessions, make_live: Any, make_flow: Any) -> None:
    live = sessions[4711] = make_live()
    flow = make_flow()
    asyncio.run(Gate(sessions, default()).request(flow))
    asyncio.run(Broken().response(flow))
    assert len(live.problems) == 1
