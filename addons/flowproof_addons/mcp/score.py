"""The recorded order of everything on a lane, and how far this run has come in it."""

from __future__ import annotations

from dataclasses import dataclass

from flowproof_addons.mcp.lane import Frame, Lane


@dataclass(frozen=True, slots=True)
class Opened:
    """Awaited: the agent asks."""

    call: int


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Awaited: the agent gives a call up."""

    call: int


@dataclass(frozen=True, slots=True)
class Noted:
    """Awaited: the agent sends a notification."""

    method: str
    session: int


@dataclass(frozen=True, slots=True)
class Answered:
    """Awaited: the agent answers a server request."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Sent:
    """To do: a message of the server's own."""

    frame: Frame
    call: int | None


@dataclass(frozen=True, slots=True)
class Closed:
    """To do: the answer of a call."""

    call: int


type Awaited = Opened | Cancelled | Noted | Answered
type Step = Awaited | Sent | Closed


def score(lane: Lane) -> list[Step]:
    """The lane's steps in recorded order."""
    timed: list[tuple[int, Step]] = [(n.at, Noted(n.method, n.session)) for n in lane.notes]
    for frame in lane.pushes:
        timed += _frame(frame, None)
    for number, call in enumerate(lane.calls):
        timed.append((call.opened, Opened(number)))
        for frame in call.frames:
            timed += _frame(frame, number)
        if call.cancelled is not None:
            timed.append((call.cancelled, Cancelled(number)))
        if call.closed is not None:
            timed.append((call.closed, Closed(number)))
    return [step for _, step in sorted(timed, key=lambda pair: pair[0])]


def _frame(frame: Frame, call: int | None) -> list[tuple[int, Step]]:
    sent: list[tuple[int, Step]] = [(frame.at, Sent(frame, call))]
    return sent if frame.answered is None else [*sent, (frame.answered, Answered(frame))]
