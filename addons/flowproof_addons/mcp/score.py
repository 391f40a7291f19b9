"""The recorded order of everything on a lane, and how far this run has come in it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class Course:
    """How far a run has come. Steps are done in order; what is awaited may happen before its turn."""

    steps: list[Step]
    at: int = 0
    """Where the next step is."""
    _happened: set[int] = field(default_factory=set)

    @property
    def next(self) -> Step | None:
        """The step whose turn it is; None at the end."""
        return self.steps[self.at] if self.at < len(self.steps) else None

    @property
    def happened(self) -> bool:
        """Has the step whose turn it is happened, or been given up?"""
        return self.at in self._happened

    def mark(self, step: Awaited) -> bool:
        """Something awaited happened; the earliest such step counts. False if there is none ahead."""
        for index in range(self.at, len(self.steps)):
            if index not in self._happened and self.steps[index] == step:
                self._happened.add(index)
                return True
        return False

    def skip_to(self, held: Step) -> list[Step]:
        """Wait no longer for what stands before `held`, nor for `held` itself: what did not happen."""
        missed: list[Step] = []
        while (step := self.steps[self.at]) is not held:
            if not self.happened:
                missed.append(step)
            self.at += 1
        self._happened.add(self.at)
        return missed

    def swap(self, one: int, other: int) -> None:
        """Two connections stand for each other's sessions: what they have noted counts there."""
        noted: dict[tuple[str, int], list[int]] = defaultdict(list)
        for index, step in enumerate(self.steps):
            if isinstance(step, Noted):
                noted[step.method, step.session].append(index)
        for method in {method for method, _ in noted}:
            for pair in zip(noted[method, one], noted[method, other], strict=False):
                if len(self._happened.intersection(pair)) == 1:
                    self._happened ^= set(pair)
