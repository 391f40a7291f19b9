"""When a user turn of a conversation has settled, so that the agent may be given the next one.

At record nobody knows what the agent will still do: a user turn has settled when its last reply asked for no tool and
nothing was in flight for a while. At replay the cassette knows: a user turn has settled when everything recorded in it
has been asked for and answered. An agent may write nothing about it in either case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from flowproof_addons.trace.model import JsonValue

QUIET_S = 1.0
"""At record: how long nothing may be in flight after a reply that asks for no tool."""
BREATH_S = 0.1
"""At replay: until the last reply has reached the agent, and a request too many would have come."""
STALLED_S = 10.0
"""At replay: how long an agent that was told no tool to call may keep back what it asked for when recorded.

When it was recorded it would have been given the next user turn after `QUIET_S`, so no honest agent needs as long.
"""

type Emit = Callable[[dict[str, JsonValue]], None]


class Timer(Protocol):
    """Something that will happen."""

    def cancel(self) -> None:
        """Let it not happen."""
        ...


type Later = Callable[[float, Callable[[], None]], Timer]
"""`loop.call_later`."""


@dataclass(frozen=True, slots=True)
class Left:
    """What the cassette still holds for a user turn."""

    missing: int
    """Recordings that were not asked for."""
    recorded: int


class Settling:
    """Follows the user turns of one session. Everything happens in a call or in a timer."""

    def __init__(
        self, emit: Emit, later: Later, left: Callable[[int], Left] | None = None, quiet_s: float | None = None
    ) -> None:
        """`left`: at replay, what the cassette still holds for a user turn. `quiet_s`: see `session.Conversation`."""
        self.user_turn = 1
        self._emit = emit
        self._later = later
        self._left = left
        self._quiet_s = quiet_s
        self._in_flight = 0
        self._answered = 0
        self._working = False
        self._said = ""
        self._settled = False
        self._timer: Timer | None = None

    def begin(self, user_turn: int) -> None:
        """The agent is about to be given this user turn: what arrives from now on belongs to it."""
        self.user_turn = user_turn
        self._answered, self._working, self._said, self._settled = 0, False, "", False
        self.look()

    def opened(self) -> None:
        """The agent asks for something, of whatever lane."""
        self._in_flight += 1
        self.look()

    def closed(self) -> None:
        """That was answered, or given up."""
        self._in_flight -= 1
        self.look()

    def replied(self, *, working: bool, text: str) -> None:
        """A model request was answered. `working`: the agent has something to do now, a tool to call or a retry."""
        self._answered += 1
        self._working, self._said = working, text
        self.closed()

    def look(self) -> None:
        """Something changed: what is waited for from now on."""
        self.rest()
        if self._settled or self._in_flight:
            return
        if self._left is not None:
            self._replaying(self._left(self.user_turn))
        elif self._answered and (self._quiet_s is not None or not self._working):
            self._after(QUIET_S if self._quiet_s is None else self._quiet_s, self._settle)

    def rest(self) -> None:
        """Let no timer act."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def why(self) -> str:
        """Why the user turn has not settled; empty when it has."""
        if self._settled:
            return ""
        if self._in_flight:
            return f"{self._in_flight} of its requests {'was' if self._in_flight == 1 else 'were'} not answered yet"
        if not self._answered:
            return "no model request came of it"
        left = self._left(self.user_turn) if self._left is not None else None
        if left is not None and left.missing:
            return f"{left.recorded - left.missing} of its {left.recorded} recorded requests were made"
        return "its last reply asked for a tool" if self._working else "its last reply had only just come"

    def _replaying(self, left: Left) -> None:
        if not left.missing:
            self._after(BREATH_S, self._settle)
        elif self._answered and not self._working:
            self._after(STALLED_S, self._stall)

    def _after(self, seconds: float, act: Callable[[], None]) -> None:
        self._timer = self._later(seconds, act)

    def _settle(self) -> None:
        self._timer = None
        self._settled = True
        self._emit({"event": "settled", "user_turn": self.user_turn, "text": self._said})

    def _stall(self) -> None:
        self._timer = None
        self._emit({"event": "stalled", "user_turn": self.user_turn, "why": self.why()})
