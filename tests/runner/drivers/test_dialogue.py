"""A conversation as drivers lead it: the next user turn when the one before has settled, in the agent's own form."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from flowproof_runner.drivers.base import Task
from flowproof_runner.drivers.command import Command
from flowproof_runner.drivers.dialogue import Dialogue, Script, Settling
from flowproof_runner.drivers.listening import Form, Listening

type MakeTask = Callable[..., Task]
type MakeCommand = Callable[..., Command]

TEXTS = ("Which flights?", "Book it", "Thanks")
REPEATS = (
    "import os, sys\nprint(os.environ['FLOWPROOF_PROMPT'], flush=True)\nfor line in sys.stdin: print(line, end='')"
)


@dataclass(slots=True)
class Line:
    """A boundary where each user turn settles as told."""

    settlings: dict[int, Settling] = field(default_factory=dict)
    begun: list[int] = field(default_factory=list)

    def begin(self, user_turn: int) -> None:
        self.begun.append(user_turn)

    def settling(self, user_turn: int) -> Settling | None:
        return self.settlings.get(user_turn)


@dataclass(slots=True)
class Agent:
    """Whoever is at the other end."""

    given: list[tuple[str, int]] = field(default_factory=list)
    hung_up: int = 0

    def deliver(self, text: str, user_turn: int) -> None:
        self.given.append((text, user_turn))

    def hang_up(self) -> None:
        self.hung_up += 1


SETTLED = {number: Settling("settled", f"reply {number}") for number in (1, 2, 3)}


def test_the_next_thing_is_said_once_the_last_has_settled() -> None:
    line, agent = Line(), Agent()
    talk = Dialogue(Script(TEXTS), line)
    assert talk.first() == TEXTS[0]
    talk.go_on(agent.deliver, agent.hang_up)
    assert (agent.given, line.begun) == ([], [])  # the agent is still at work
    line.settlings = SETTLED
    for _ in range(5):
        talk.go_on(agent.deliver, agent.hang_up)
    assert agent.given == [(TEXTS[1], 2), (TEXTS[2], 3)]
    assert (line.begun, agent.hung_up, talk.over) == ([2, 3], 1, True)


def test_an_agent_that_stalls_is_told_nothing_more() -> None:
    line, agent = Line({1: Settling("stalled", "1 of 2 requests")}), Agent()
    talk = Dialogue(Script(TEXTS), line)
    talk.first()
    for _ in range(3):
        talk.go_on(agent.deliver, agent.hang_up)
    assert (agent.given, agent.hung_up, talk.stalled, talk.delivered) == ([], 1, "1 of 2 requests", [TEXTS[0]])


def test_a_user_who_says_nothing_begins_no_conversation() -> None:
    talk = Dialogue(Script(()), Line())
    assert (talk.first(), talk.over, talk.delivered) == ("", True, [])


@pytest.mark.parametrize(
    ("form", "heard"),
    [
        ("later", ["Which flights?", '{"type": "user", "text": "Book it", "turn": 2}', "Thanks"]),
        (
            "all",
            [
                "Which flights?",
                '{"type": "user", "text": "Which flights?", "turn": 1}',
                '{"type": "user", "text": "Book it", "turn": 2}',
                "Thanks",
            ],
        ),
        ("text", ["Which flights?", "Which flights?", "Book it", "Thanks"]),
    ],
)
def test_a_command_hears_user_turns_in_its_own_form(
    make_task: MakeTask, make_command: MakeCommand, form: Form, heard: list[str]
) -> None:
    """And its stdin ends when all is said, which ends this agent."""
    talk = Dialogue(Script(TEXTS), Line(SETTLED))
    task = replace(make_task(talk.first()), dialogue=talk)
    result = replace(make_command(REPEATS), stdin=form).run(task)
    assert (result.ending, result.exit_code) == ("exited", 0)
    assert result.stdout is not None
    lines = result.stdout.read_text().splitlines()
    last = json.loads(lines[-1])["text"] if form != "text" else lines[-1]
    assert [*lines[:-1], last] == heard


def test_the_time_the_user_takes_is_not_the_agents(make_task: MakeTask, make_command: MakeCommand) -> None:
    class Slow(Script):
        def next(self, reply: str) -> str | None:
            time.sleep(0.9 if reply else 0)
            return super().next(reply)

    talk = Dialogue(Slow(TEXTS), Line(SETTLED))
    result = make_command(REPEATS).run(replace(make_task(talk.first(), timeout_s=2.5), dialogue=talk))
    assert (result.ending, talk.delivered) == ("exited", list(TEXTS))


def test_a_deaf_agent_holds_nobody_up() -> None:
    """More than a pipe takes, and nobody reads: nothing waits, and the rest is sent when there is room."""
    with Listening("text") as listening:
        listening.say("x" * 200_000, 2)
        listening.end()
        data = b""
        while piece := os.read(listening.reading, 65536):
            data += piece
            listening.flush()
        assert data == b"x" * 200_000 + b"\n"
