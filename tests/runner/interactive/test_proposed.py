"""What a typed conversation becomes in a spec."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowproof_addons.dialects.registry import default
from flowproof_addons.trace import file
from flowproof_runner.evidence.model import Evidence
from flowproof_runner.interactive.proposed import (
    Entry,
    UnwritableError,
    beginning,
    entries,
    fragment,
    with_conversation,
)
from flowproof_runner.records.story import tell
from flowproof_runner.spec import resolve
from flowproof_runner.spec.file import of_text

ROOT = Path(__file__).parents[3]
HEAD = "name: Typed  # kept\napp: agent\nagent:\n  command: python3 agent.py\n"
SAID = ("Which flights?", "Book it", "Thanks")
PATH = Path("typed.flow.yaml")


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    """Of three user turns: the first two call a tool, the last is only answered."""
    return tell(file.load(ROOT / "specs" / "conversation.trace.json"), default()).evidence


def test_each_user_turn_asserts_its_calls_or_how_its_reply_begins(evidence: Evidence) -> None:
    assert entries(SAID, evidence) == [
        {"user": "Which flights?", "assert_tool_call": "search_flights"},
        {"user": "Book it", "assert_tool_call": "create_booking"},
        {"user": "Thanks", "assert": {"reply": {"contains": "You are welcome."}}},
    ]


def test_a_user_turn_that_came_to_nothing_asserts_nothing(evidence: Evidence) -> None:
    assert entries((*SAID, "Still there?"), evidence)[3] == {"user": "Still there?"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("steps", ["", "steps:\n  - assert_no_tool_call: transfer_funds\n"])
def test_it_stands_before_the_steps_and_every_other_line_is_kept(end: str, steps: str) -> None:
    said: list[Entry] = [{"user": "Hello", "assert_tool_call": ["a", "b"]}]
    text = (HEAD + steps).replace("\n", end)
    block = f"conversation:{end}  - user: Hello{end}    assert_tool_call:{end}      - a{end}      - b{end}"
    assert with_conversation(text, PATH, said) == HEAD.replace("\n", end) + block + steps.replace("\n", end)


@pytest.mark.parametrize(
    "text",
    ["${HOME} is $${x}", "yes", "a: b # c", "1:30", "- no", "ü\u2028x", "a#b", "'\"", "null", "${flowproof.prompt}"],
)
def test_what_was_typed_is_what_the_spec_says(text: str, evidence: Evidence) -> None:
    written = with_conversation(HEAD, PATH, entries((text, *SAID[1:]), evidence))
    assert resolve.resolved(of_text(written, PATH), {}, "replay").user_turns[0] == text


def test_a_conversation_in_which_nothing_can_be_asserted_is_not_written() -> None:
    with pytest.raises(UnwritableError, match="the flow could not fail"):
        with_conversation(HEAD, PATH, [{"user": "Hello"}])


def test_the_beginning_of_a_long_reply_ends_with_a_whole_word() -> None:
    assert beginning("\n  " + "word " * 40) == " ".join(["word"] * 12)
    assert beginning("x" * 100) == "x" * 60
    assert beginning("") == ""


def test_a_fragment_never_wraps() -> None:
    assert len(fragment([{"user": "word " * 500}]).splitlines()) == 2
