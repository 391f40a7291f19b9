"""Dates in the forms that clients write."""

import datetime as dt

import pytest

from flowproof_addons.matching.dates import DATE, form, readings

DAY = dt.date(2026, 12, 2)


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-02",
        "2026/12/02",
        "12/2/2026",
        "2.12.2026",
        "Wednesday, December 2, 2026",
        "Wed Dec 02 2026",
        "December 2nd, 2026",
        "2 December 2026",
        "Wed, 2 Dec 2026",
        "2026-12-02T04:18:44.690+00:00",
        "2026-12-02 04:18",
    ],
)
def test_common_forms_are_read(text: str) -> None:
    assert DAY in readings(text)
    assert [found[0] for found in DATE.finditer(f"Today is {text}, be quick.")] == [text]


@pytest.mark.parametrize(
    "text", ["2026-13-02", "Thursday, December 2, 2026", "version 1.2.3", "2026", "", "12-02", "x2026-12-02"]
)
def test_other_text_is_no_date(text: str) -> None:
    assert readings(text) == set()


def test_a_date_that_can_be_read_in_two_ways_has_two_readings() -> None:
    assert readings("3/4/2026") == {dt.date(2026, 3, 4), dt.date(2026, 4, 3)}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2026-12-02", "2027-01-31", True),
        ("Wed Dec 02 2026", "Sun May 31 2026", True),
        ("December 2nd, 2026", "May 1st, 2026", True),
        ("2026-12-02", "2026/12/02", False),
        ("Wed, 2 Dec 2026", "Wednesday, 2 Dec 2026", False),
        ("2026-12-02", "2026-12-02T04:18:44Z", False),
    ],
)
def test_the_form_is_how_it_is_written_not_which_day(one: str, other: str, same: bool) -> None:
    assert (form(one) == form(other)) is same
