"""What is printed to nobody is no error."""

from __future__ import annotations

import os

from flowproof_runner.cli.say import say


def test_text_is_printed_at_once() -> None:
    reader, writer = os.pipe()
    with open(reader) as read, open(writer, "w") as stream:
        say("one\n", stream)
        assert read.readline() == "one\n"


def test_a_reader_that_has_gone_costs_nothing() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as stream:
        say("one\n", stream)
        say("two\n", stream)
