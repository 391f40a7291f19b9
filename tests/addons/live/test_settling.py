"""When the agent may be given the next user turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from flowproof_addons.live.settling import BREATH_S, QUIET_S, STALLED_S, Left, Settling
from flowproof_addons.trace.model import JsonValue


@dataclass
class Alarm:
    """A timer of the test's clock."""

    at: float
    act: Callable[[], None]
    off: bool = False

    def cancel(self) -> None:
        self.off = True


@dataclass
class Stage:
    """A conversation over a clock that stands still until it is moved."""

    left: Left | None = None
    quiet_s: float | None = None
    now: float = 0.0
    events: list[dict[str, JsonValue]] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)

    def __post_init__(self) -> None:
        look = None if self.left is None else (lambda user_turn: self.left or Left(0, 0))
        self.settling = Settling(self.events.append, self.later, look, self.quiet_s)

    def later(self, seconds: float, act: Callable[[], None]) -> Alarm:
        self.alarms.append(Alarm(self.now + seconds, act))
        return self.alarms[-1]

    def wait(self, seconds: float) -> None:
        self.now += seconds
        due = [alarm for alarm in self.alarms if not alarm.off and alarm.at <= self.now]
        for alarm in due:
            alarm.off = True
            alarm.act()

    def turn(self, *, tool: bool = False, left: Left | None = None) -> None:
        """A model request and its reply."""
        self.settling.opened()
        self.left = left
        self.settling.replied(working=tool, text="" if tool else "Done.")

    @property
    def said(self) -> list[JsonValue]:
        return [event["event"] for event in self.events]


@pytest.fixture
def recording() -> Stage:
    return Stage()


@pytest.fixture
def replaying() -> Stage:
    return Stage(left=Left(2, 2))


def test_a_reply_that_asks_for_nothing_settles_a_recording_after_a_while(recording: Stage) -> None:
    recording.turn()
    recording.wait(QUIET_S - 0.01)
    assert recording.said == []
    recording.wait(0.01)
    assert recording.events == [{"event": "settled", "user_turn": 1, "text": "Done."}]
    assert recording.settling.why() == ""


def test_nothing_settles_before_the_first_request(recording: Stage) -> None:
    recording.settling.look()
    recording.wait(1000)
    assert recording.said == []
    assert recording.settling.why() == "no model request came of it"


def test_an_agent_with_a_tool_to_call_is_waited_for(recording: Stage) -> None:
    recording.turn(tool=True)
    recording.wait(1000)
    assert recording.said == []
    assert recording.settling.why() == "its last reply asked for a tool"


def test_a_spec_that_knows_better_sets_the_time_for_every_reply() -> None:
    stage = Stage(quiet_s=3)
    stage.turn(tool=True)
    stage.wait(2.9)
    assert stage.said == []
    stage.wait(0.1)
    assert stage.said == ["settled"]


def test_what_is_in_flight_is_waited_for(recording: Stage) -> None:
    recording.turn()
    recording.settling.opened()  # an MCP call, or a side call
    recording.wait(1000)
    assert recording.said == []
    assert recording.settling.why() == "1 of its requests was not answered yet"
    recording.settling.closed()
    recording.wait(QUIET_S)
    assert recording.said == ["settled"]


def test_another_request_begins_the_wait_anew(recording: Stage) -> None:
    recording.turn()
    recording.wait(QUIET_S / 2)
    recording.turn()
    recording.wait(QUIET_S / 2)
    assert recording.said == []
    recording.wait(QUIET_S / 2)
    assert recording.said == ["settled"]


def test_the_next_user_turn_has_to_settle_by_itself(recording: Stage) -> None:
    recording.turn()
    recording.wait(QUIET_S)
    recording.settling.begin(2)
    recording.wait(1000)
    assert recording.said == ["settled"]
    recording.turn()
    recording.wait(QUIET_S)
    assert [event["user_turn"] for event in recording.events] == [1, 2]


def test_a_replay_settles_with_the_last_recorded_request_whatever_was_asked_for(replaying: Stage) -> None:
    replaying.turn(tool=True, left=Left(1, 2))
    replaying.wait(1000)
    assert replaying.said == []
    replaying.turn(tool=True, left=Left(0, 2))
    replaying.wait(BREATH_S)
    assert replaying.said == ["settled"]


def test_a_request_too_many_comes_before_the_next_user_turn(replaying: Stage) -> None:
    replaying.turn(left=Left(0, 2))
    replaying.wait(BREATH_S / 2)
    replaying.settling.opened()
    replaying.wait(1000)
    assert replaying.said == []
    assert replaying.settling.user_turn == 1


def test_an_agent_that_is_done_before_its_recording_is_found_out(replaying: Stage) -> None:
    replaying.turn(left=Left(1, 2))
    replaying.wait(STALLED_S)
    assert replaying.events == [{"event": "stalled", "user_turn": 1, "why": "1 of its 2 recorded requests were made"}]


def test_an_agent_that_has_not_begun_is_not_stalled(replaying: Stage) -> None:
    replaying.settling.look()
    replaying.wait(1000)
    assert replaying.said == []


def test_at_rest_no_timer_acts(recording: Stage) -> None:
    recording.turn()
    recording.settling.rest()
    recording.wait(1000)
    assert recording.said == []
