"""Pins go into a spec's text and nothing else of it changes."""

from __future__ import annotations

import pytest

from flowproof_runner.volatility.edit import EditError, with_pins

PIN = ("  - at: messages", "    unordered: true")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: x # a\nsteps:\n- a\n", "name: x # a\npins:\n  - at: messages\n    unordered: true\nsteps:\n- a\n"),
        (
            "pins: # b\n- kind: date # c\nsteps:\n",
            "pins: # b\n- at: messages\n  unordered: true\n- kind: date # c\nsteps:\n",
        ),
        ("a: 1\r\nsteps:\r\n", "a: 1\r\npins:\r\n  - at: messages\r\n    unordered: true\r\nsteps:\r\n"),
    ],
)
def test_the_text_around_stays_as_it_was(before: str, after: str) -> None:
    assert with_pins(before, [PIN]) == after


def test_a_list_on_one_line_is_left_to_the_author() -> None:
    with pytest.raises(EditError, match="line 1"):
        with_pins("pins: [{ kind: date }]\nsteps:\n", [PIN])
