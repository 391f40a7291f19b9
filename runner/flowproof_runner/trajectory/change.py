"""One difference between two trajectories, in the words a reader sees."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from flowproof_runner.trajectory.values import Absent, Found

type Kind = Literal["added", "removed", "moved", "arguments", "reply", "prompt", "tool", "model", "server", "setting"]

_DOES: frozenset[Kind] = frozenset({"added", "removed", "moved", "arguments", "reply"})


@dataclass(frozen=True, slots=True)
class Change:
    """Equal changes of different flows are one drift."""

    kind: Kind
    what: str
    """One line: `create_booking is called no more`."""
    before: str | None = None
    after: str | None = None
    tool: str = ""
    """The tool concerned, where one is."""

    @property
    def does(self) -> bool:
        """True for what the agent does, False for what it is told."""
        return self.kind in _DOES


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes from one run to another."""

    changes: tuple[Change, ...] = ()

    @property
    def does(self) -> tuple[Change, ...]:
        """What the agent does differently."""
        return tuple(change for change in self.changes if change.does)

    @property
    def told(self) -> tuple[Change, ...]:
        """What it is told differently."""
        return tuple(change for change in self.changes if not change.does)

    def __bool__(self) -> bool:
        return bool(self.changes)


def shown(value: Found) -> str | None:
    """A value as people read it; None for none."""
    return None if isinstance(value, Absent) else json.dumps(value, ensure_ascii=False, default=str)
