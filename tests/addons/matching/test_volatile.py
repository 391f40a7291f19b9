"""What record warns of: spans another day or another directory would change."""

from __future__ import annotations

import datetime as dt

import pytest

from flowproof_addons.matching.volatile import Hint, Hints
from flowproof_addons.session import Pin
from flowproof_addons.trace.model import JsonBody, Request

TODAY = dt.date(2026, 12, 2)


def hints(*contents: str, pins: tuple[Pin, ...] = (), directory: str = "/home/ada/shop") -> list[Hint]:
    looking = Hints(pins, TODAY, directory)
    for content in contents:
        looking.look(Request("POST", "/v1/messages", "", JsonBody({"system": [{"text": content}]})))
    return list(looking.found)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Today is 2026-12-02.", [Hint("date", "system[0].text", "2026-12-02")]),
        ("It is Wednesday, December 2, 2026", [Hint("date", "system[0].text", "Wednesday, December 2, 2026")]),
        ("Released on 2019-05-01.", []),
        ("cwd: /home/ada/shop/src", [Hint("path", "system[0].text", "/home/ada/shop")]),
        ("cwd: /srv", []),
    ],
)
def test_todays_date_and_the_own_directory_are_noticed(content: str, expected: list[Hint]) -> None:
    assert hints(content) == expected


@pytest.mark.parametrize("at", ["system[0].text", "system[*].text", "system", "**.text", ""])
def test_what_a_pin_covers_is_not_told(at: str) -> None:
    assert hints("Today is 2026-12-02.", pins=(Pin(at=at, kind="date"),)) == []


def test_a_pin_elsewhere_covers_nothing() -> None:
    assert len(hints("Today is 2026-12-02.", pins=(Pin(at="messages[0]"),))) == 1


def test_a_history_sent_again_is_told_once() -> None:
    assert len(hints("Today is 2026-12-02.", "Today is 2026-12-02.")) == 1


def test_the_words_say_what_it_means_and_which_pin_mends_it() -> None:
    (hint,) = hints("Today is 2026-12-02.")
    assert hint.words() == (
        "system[0].text holds today's date (2026-12-02): this cassette is good for one day;"
        " add pins: [{ at: 'system[0].text', kind: date, why: ... }]"
    )


@pytest.mark.parametrize(
    ("pin", "told"),
    [
        (Pin(match=r"Today is (\S+)"), 0),
        (Pin(match=r"Session (\S+)"), 1),
        (Pin(kind="path"), 1),
        (Pin(kind="date"), 0),
    ],
)
def test_a_pin_that_is_about_something_else_covers_nothing(pin: Pin, told: int) -> None:
    assert len(hints("Session 7. Today is 2026-12-02", pins=(pin,))) == told


def test_a_real_date_beside_a_clock_of_the_agents_own_is_told_as_such() -> None:
    looking = Hints((), TODAY, "", "2020-01-01T00:00:00Z")
    looking.look(Request("POST", "/v1/messages", "", JsonBody({"system": "Today is 2026-12-02."})))
    (hint,) = looking.found
    assert hint.words().startswith("system holds today's real date (2026-12-02): it is not from agent.clock 2020-01-01")
