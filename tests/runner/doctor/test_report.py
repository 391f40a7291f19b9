"""A diagnosis as people read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from flowproof_addons.dialects.registry import default
from flowproof_runner.containment.report import ENFORCED, ENFORCED_WITH_LANDLOCK, Process, Violation, not_contained
from flowproof_runner.doctor.diagnosis import Arrival, Diagnosis
from flowproof_runner.doctor.report import render
from flowproof_runner.doctor.varied import Variation

TURN = Arrival("openai-chat", "POST", "/v1/chat/completions", "OpenAI/Python 2", "OPENAI_BASE_URL", 200, 2)
SIDE = Arrival(None, "GET", "/v1/nothing", "", "", 404, 1)
PIN = ("  - at: messages[0].content", "    kind: date")
WIRED = Diagnosis("my agent", "exited", 0, (TURN,), 0, (), ENFORCED_WITH_LANDLOCK, {})
FULL = replace(
    WIRED,
    exit_code=1,
    arrivals=(TURN, SIDE),
    retries=3,
    elsewhere=(Violation("198.51.100.9:443", "tcp", chain=(Process(7, "curl"),), name="api.example.com", count=2),),
    declared=("tools.example.com",),
    lanes={"files": 4, "mail": 0},
    variations=(Variation("messages[0].content", "two dates", "2026-12-01", "2026-12-02", PIN, 1),),
    runs=2,
    survivors=2,
    clients=("codex",),
    clock_honoured=False,
    notes=("unknown handle",),
)


def test_everything_that_was_seen_is_told() -> None:
    assert render(FULL, default()) == (
        "agent      my agent\n"
        "ended      exited with code 1; it left 2 processes running, ended\n"
        "note       unknown handle\n"
        "arrived    2 x openai-chat: POST /v1/chat/completions from OpenAI/Python 2\n"
        "           side call: GET /v1/nothing, answered 404\n"
        "honoured   OPENAI_BASE_URL\n"
        "client     codex: it has a profile; put `client: codex` into the spec\n"
        "clock      honoured by no process of the agent: it works for Python and Node\n"
        "retries    3: requests that were sent again\n"
        "elsewhere  198.51.100.9:443 (api.example.com) tcp, refused, 2 times, by curl\n"
        "           tools.example.com, not refused: agent.allow_egress has it\n"
        "MCP        files: contacted, 4 messages\n"
        "           mail: not contacted\n"
        "varied     turn 1: messages[0].content (two dates): '2026-12-01' / '2026-12-02'\n"
        "           pins:\n"
        "             - at: messages[0].content\n"
        "               kind: date\n"
        "containment enforced (linux seccomp+landlock)\n"
        "\n"
        "wired, but the agent went elsewhere too: silence it, or list it under agent.allow_egress\n"
    )


def test_a_wired_agent_is_told_in_a_few_lines() -> None:
    assert render(WIRED, default()) == (
        "agent      my agent\n"
        "ended      exited with code 0\n"
        "arrived    2 x openai-chat: POST /v1/chat/completions from OpenAI/Python 2\n"
        "honoured   OPENAI_BASE_URL\n"
        "elsewhere  nothing\n"
        "containment enforced (linux seccomp+landlock)\n"
        "\n"
        "wired: the agent's model requests arrive at flowproof\n"
    )


@pytest.mark.parametrize(
    ("changed", "advised"),
    [
        ({"tier": ENFORCED_WITH_LANDLOCK}, None),
        ({"tier": ENFORCED}, "a kernel with Landlock switched on"),
        ({"tier": not_contained("no seccomp here")}, "Linux 5.19 or newer"),
        ({"tier": not_contained("a url"), "machine": ENFORCED}, "an agent.command; on this machine one is enforced"),
    ],
)
def test_what_would_raise_the_tier_is_said(changed: Mapping[str, str], advised: str | None) -> None:
    told = render(replace(WIRED, **changed), default())  # type: ignore[arg-type]  # strings all
    assert ("to raise it: " in told) == (advised is not None)
    assert advised is None or f"to raise it: {advised}" in told


def test_who_does_not_arrive_is_told_every_handle_and_variable() -> None:
    told = render(replace(WIRED, arrivals=()), default())
    for name in ("${flowproof.proxy_url}", "${flowproof.proxy_url_no_v1}", "OPENAI_BASE_URL=", "ANTHROPIC_BASE_URL="):
        assert name in told
