"""What a term came to: sets of values with where they were seen, or the reason there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flowproof_addons.trace.model import JsonValue

type GapKind = Literal["unanswered", "filtered", "absent", "outcome", "type"]


@dataclass(frozen=True, slots=True)
class Bag:
    """Values from one source."""

    values: tuple[JsonValue, ...]
    seq: int | None = None
    """The evidence event they were read from."""
    spread: bool = False
    """The values are the elements of a collection, not the one value of a path."""

    def elements(self) -> tuple[JsonValue, ...] | None:
        """The collection this bag stands for, None if its one value is no array."""
        if self.spread:
            return self.values
        if len(self.values) == 1 and isinstance(array := self.values[0], list):
            return tuple(array)
        return None


@dataclass(frozen=True, slots=True)
class Gap:
    """Why a value could not be had: that is never the same as a condition that is false."""

    kind: GapKind
    text: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The value sets of a term, in the order they were seen."""

    bags: tuple[Bag, ...] = ()
    gaps: tuple[Gap, ...] = ()

    def values(self) -> tuple[JsonValue, ...]:
        """All values of all sets."""
        return self.bags[0].values if len(self.bags) == 1 else tuple(v for bag in self.bags for v in bag.values)


@dataclass(frozen=True, slots=True)
class Miss:
    """A comparison that did not hold."""

    text: str
    """The comparison as written."""
    path: str
    expected: tuple[tuple[JsonValue, int | None], ...]
    """Values that would have done, with the evidence they come from."""
    actual: JsonValue
    absent: bool = False
    """There was no value on the left."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether a condition holds, and if not, which parts failed and which could not be read."""

    holds: bool
    misses: tuple[Miss, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def unread(self) -> tuple[Gap, ...]:
        """Everything that could not be read, missing values included: what makes a `when` undecidable."""
        return self.gaps + tuple(Gap("absent", f"{miss.path} has no value") for miss in self.misses if miss.absent)


HOLDS = Truth(True)
