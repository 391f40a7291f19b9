"""The user of a conversation: says the next thing when the agent has settled what it was told before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

type State = Literal["settled", "stalled"]


@dataclass(frozen=True, slots=True)
class Settling:
    """How a user turn came to rest."""

    state: State
    """`stalled`: at replay, the agent asks for nothing more although more is recorded."""
    told: str = ""
    """Settled: the agent's last reply. Stalled: what is missing."""


class Line(Protocol):
    """The boundary's side of a conversation."""

    def begin(self, user_turn: int) -> None:
        """What arrives from now on belongs to this user turn, from 1. The first has begun."""
        ...

    def settling(self, user_turn: int) -> Settling | None:
        """How this user turn came to rest; None while the agent is at work on it."""
        ...


class Source(Protocol):
    """Where the user's texts come from, one after the other."""

    def next(self, reply: str) -> str | None:
        """What the user says to a reply (nothing, before the first); None: no more. May take as long as it takes."""
        ...


@dataclass(slots=True)
class Script:
    """A user whose texts are all known."""

    texts: tuple[str, ...]
    _said: int = 0

    def next(self, reply: str) -> str | None:
        """See Source."""
        self._said += 1
        return self.texts[self._said - 1] if self._said <= len(self.texts) else None


@dataclass(slots=True)
class Dialogue:
    """One conversation under way. The first user turn has been given to the agent."""

    source: Source
    line: Line
    delivered: list[str] = field(default_factory=list)
    """The user turns that the agent was given."""
    over: bool = False
    """The user has no more to say, or the agent does not listen."""
    stalled: str = ""
    """What was missing when the agent asked for nothing more."""

    def first(self) -> str:
        """What the user says first; empty: nothing at all."""
        text = self.source.next("")
        if text is None:
            self.over = True
            return ""
        self.delivered.append(text)
        return text

    def go_on(self, deliver: Callable[[str, int], None], hang_up: Callable[[], None]) -> None:
        """Say the next thing if it is time: to `deliver`, with its number; `hang_up` when all is said."""
        now = len(self.delivered)
        settling = None if self.over else self.line.settling(now)
        if settling is None:
            return
        if settling.state == "stalled":
            self.over, self.stalled = True, settling.told
        text = None if self.over else self.answered(settling.told)
        if text is None:
            hang_up()
        else:
            deliver(text, now + 1)

    def answered(self, reply: str) -> str | None:
        """The agent has replied: what the user says to that, about to be given to the agent; None: no more."""
        text = self.source.next(reply)
        if text is None:
            self.over = True
            return None
        self.line.begin(len(self.delivered) + 1)
        self.delivered.append(text)
        return text
