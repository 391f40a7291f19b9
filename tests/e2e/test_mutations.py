"""The self-test: every field of every recorded request of every shipped cassette, changed, is a divergence (H03)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowproof_addons import userfile
from flowproof_addons.dialects.registry import default
from flowproof_addons.matching.canonical import NOT_COMPARED
from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.matcher import Matcher
from flowproof_addons.matching.mutations import mutations, survivors
from flowproof_addons.session import Pin
from flowproof_addons.trace import file

ROOT = Path(__file__).parents[2]
CASSETTES = sorted(path for folder in ("specs", "examples") for path in (ROOT / folder).rglob("*.trace.json"))


@pytest.fixture(autouse=True)
def dialects(request: pytest.FixtureRequest) -> Iterator[None]:
    """Ours, and the one that stands beside the cassette as its suite's addon."""
    before = default().dialects
    cassette = getattr(request.node, "callspec", None) and request.node.callspec.params["cassette"]
    if cassette and (own := cassette.with_name("dialect.py")).exists():
        userfile.load(own).register(userfile.load(own).Inhouse())
    yield
    default().dialects = before


@pytest.mark.parametrize("cassette", CASSETTES, ids=lambda path: path.name)
def test_every_change_of_every_recorded_request_is_caught(cassette: Path) -> None:
    trace = file.load(cassette)
    for exchange in (*trace.exchanges, *trace.faulted):
        assert survivors(exchange, default()) == []
        assert len(list(mutations(exchange.request))) > 20


@pytest.mark.parametrize("cassette", CASSETTES, ids=lambda path: path.name)
def test_every_recorded_request_matches_itself(cassette: Path) -> None:
    recorded = file.load(cassette).exchanges
    matcher = Matcher(recorded, (), default(), clock=lambda: dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    for exchange in recorded:
        dialect = default().named(exchange.dialect) if exchange.dialect else None
        assert not isinstance(matcher.match(exchange.request, dialect), Divergence)
    assert matcher.unserved() == ()


def test_every_dialect_we_ship_and_one_that_we_do_not_have_a_cassette_to_mutate() -> None:
    found = {exchange.dialect for path in CASSETTES for exchange in file.load(path).exchanges}
    assert found >= {"openai-chat", "openai-responses", "anthropic-messages", "inhouse"}


def test_what_is_not_compared_is_a_short_written_list() -> None:
    """Only how a reply is transported, nothing of what is asked."""
    assert sorted(NOT_COMPARED) == ["stream", "stream_options"]


def test_a_pin_lets_mutations_live_and_the_self_test_tells() -> None:
    """The guilty fixture: what is not compared survives, exactly there."""
    exchange = file.load(ROOT / "specs" / "booking.trace.json").exchanges[0]
    found = survivors(exchange, default(), [Pin(at="messages[0].content", why="guilty")])
    assert found
    assert all(line.startswith("messages[0].content") for line in found)
