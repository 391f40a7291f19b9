"""The self-test: every field of every recorded request of every shipped cassette, changed, is a divergence (H03)."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from tests.e2e.mutations import mutations

from flowproof_addons.dialects.base import Dialect
from flowproof_addons.dialects.registry import default
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.matcher import Matcher
from flowproof_addons.session import Pin
from flowproof_addons.trace import file
from flowproof_addons.trace.model import Exchange, Trace

ROOT = Path(__file__).parents[2]
CASSETTES = sorted((ROOT / "specs").rglob("*.trace.json"))


def matcher(trace: Trace, *pins: Pin) -> Matcher:
    return Matcher(trace.exchanges, pins, default(), clock=lambda: dt.datetime(2026, 1, 1, tzinfo=dt.UTC))


def survivors(trace: Trace, *pins: Pin) -> tuple[int, list[str]]:
    """How many mutations were tried, and which of them some recording answered."""
    tried, found = 0, []
    strict = matcher(trace, *pins)
    for number, exchange in enumerate(trace.exchanges):
        for mutation in mutations(exchange.request, _dialect(exchange)):
            tried += 1
            if not isinstance(strict.match(mutation.request, _dialect(exchange)), Divergence):
                found.append(f"exchange {number}: {mutation.what}")
                strict = matcher(trace, *pins)
    return tried, found


def _dialect(exchange: Exchange) -> Dialect | None:
    return default().named(exchange.dialect) if exchange.dialect else None


@pytest.mark.parametrize("cassette", CASSETTES, ids=lambda path: path.name)
def test_every_change_of_every_recorded_request_is_caught(cassette: Path) -> None:
    tried, found = survivors(file.load(cassette))
    assert found == []
    assert tried > 50


@pytest.mark.parametrize("cassette", CASSETTES, ids=lambda path: path.name)
def test_every_recorded_request_matches_itself(cassette: Path) -> None:
    trace = file.load(cassette)
    strict = matcher(trace)
    for exchange in trace.exchanges:
        assert not isinstance(strict.match(exchange.request, _dialect(exchange)), Divergence)
    assert strict.unserved() == ()


def test_there_are_cassettes_to_mutate() -> None:
    assert len(CASSETTES) >= 5


def test_a_pin_lets_mutations_live_and_the_self_test_tells(tmp_path: Path) -> None:
    """The guilty fixture: what is not compared survives, exactly there."""
    trace = file.load(CASSETTES[0])
    _, found = survivors(trace, Pin(at="tools", why="guilty"))
    assert found
    assert all("['tools']" in line for line in found)
