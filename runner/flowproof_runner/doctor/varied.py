"""What differs between the requests of two runs of one agent, with the pin that would allow it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flowproof_addons.matching import advice
from flowproof_addons.matching.difference import Difference, differences
from flowproof_addons.trace.model import Body, Exchange, JsonBody, JsonValue


@dataclass(frozen=True, slots=True)
class Variation:
    """One thing that is not the same every time."""

    path: str
    kind: str
    """`two dates`, `another order`, ..."""
    first: str
    second: str
    pin: tuple[str, ...] = ()
    """The lines below `pins:`; none where nothing sensible can be pinned."""
    turn: int | None = None
    """From 1; None when the number of turns itself differs."""


def varied(one: Iterable[Exchange], other: Iterable[Exchange]) -> tuple[Variation, ...]:
    """Compare two runs turn by turn. A thing that later turns send again is told once."""
    first, second = ([exchange for exchange in run if exchange.is_turn] for run in (one, other))
    found: dict[tuple[object, ...], Variation] = {}
    for turn, (before, after) in enumerate(zip(first, second, strict=False), start=1):
        for difference in differences(_value(before.request.body), _value(after.request.body)):
            new = variation(difference, turn)
            found.setdefault(new.pin or (new.path, new.kind), new)
    if len(first) != len(second):
        count = Variation("model requests", "another number", str(len(first)), str(len(second)))
        return (*found.values(), count)
    return tuple(found.values())


def variation(difference: Difference, turn: int | None) -> Variation:
    """A difference as people are told of it."""
    sides = [side.text if side else "nothing" for side in (difference.recorded, difference.sent)]
    return Variation(difference.path, difference.kind, sides[0], sides[1], _pin(difference), turn)


def _pin(difference: Difference) -> tuple[str, ...]:
    if difference.kind == "another order":
        place = difference.path[: difference.path.rindex("[")]
        return (f"  - at: {place}", "    unordered: true", "    why: its items come in any order")
    return of_two_runs(advice.pin(difference)[1:])


def of_two_runs(pin: Iterable[str]) -> tuple[str, ...]:
    """A pin for what two runs in a row differ in.

    `kind` would demand today's date or the run's own directory; two that differ are not both of them.
    """
    return tuple(line for line in pin if line.strip() not in ("kind: date", "kind: path"))


def _value(body: Body) -> JsonValue:
    return body.value if isinstance(body, JsonBody) else repr(body)
