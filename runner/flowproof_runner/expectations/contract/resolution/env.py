"""What the scopes of a formula stand for at one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.call import Call
from flowproof_runner.expectations.contract.resolution.bag import Truth
from flowproof_runner.expectations.contract.terms import Formula


@dataclass(frozen=True, slots=True)
class Env:
    """What the scopes of a formula stand for at one place."""

    call: Call | None = None
    """The call under test; None: the whole run is known."""
    item: tuple[JsonValue, ...] = ()
    """The array element, as a tuple of one."""
    arguments: tuple[JsonValue, ...] = ()
    result: tuple[JsonValue, ...] = ()
    """Of the producing call."""
    each: Mapping[str, JsonValue] = field(default_factory=dict)
    strict: bool = False
    """Every part must be readable, also where another part decides: for conditions."""


type Holds = Callable[[Formula, Env], Truth]
"""Whether a formula holds at a place."""
