"""In a conversation, what was recorded of one user turn answers nothing in another."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from flowproof_addons.matching.divergence import Divergence
from flowproof_addons.matching.matcher import Hit, Matcher
from flowproof_addons.trace.model import Exchange, JsonValue, Request

type Make[T] = Callable[..., T]


def says(text: str) -> JsonValue:
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


@pytest.fixture
def conversation(matcher: Make[Matcher], recorded: Make[Exchange]) -> Matcher:
    """Two user turns: the same is asked in both, then something of its own in each."""
    asked = [(1, "same"), (1, "one"), (2, "same"), (2, "two")]
    return matcher(
        *(replace(recorded(says(text), f"{turn} {text}"), user_turn=turn) for turn, text in asked), user_turn=1
    )


def test_equal_requests_are_answered_by_the_recording_of_their_own_user_turn(
    conversation: Matcher, hit: Make[Hit]
) -> None:
    conversation.user_turn = 2
    assert hit(conversation, says("same")).index == 2
    conversation.user_turn = 1
    assert hit(conversation, says("same")).index == 0


def test_a_request_of_an_earlier_user_turn_diverges_and_says_so(conversation: Matcher, miss: Make[Divergence]) -> None:
    conversation.user_turn = 2
    found = miss(conversation, says("one"))
    assert found.why == "another user turn"
    assert found.headline == "user turn 2, turn 1: this request is recorded turn 2 of user turn 1, and not for now"


def test_a_request_of_a_later_user_turn_diverges_and_says_so(conversation: Matcher, miss: Make[Divergence]) -> None:
    assert miss(conversation, says("two")).headline == (
        "user turn 1, turn 1: this request is recorded turn 4 of user turn 2, and not for now"
    )


def test_a_used_up_request_is_told_from_one_of_another_user_turn(
    conversation: Matcher, hit: Make[Hit], miss: Make[Divergence]
) -> None:
    hit(conversation, says("same"))
    assert miss(conversation, says("same")).why == "already served"


def test_a_changed_request_is_compared_with_its_own_user_turn(conversation: Matcher, miss: Make[Divergence]) -> None:
    conversation.user_turn = 2
    found = miss(conversation, says("one!"))  # nearer to `one`, which is another user turn's
    assert found.why == "changed"
    assert found.user_turn == 2
    assert found.nearest_name.endswith("of user turn 2")


def test_without_a_conversation_user_turns_do_not_count(
    matcher: Make[Matcher], recorded: Make[Exchange], hit: Make[Hit]
) -> None:
    assert hit(matcher(replace(recorded(says("one")), user_turn=2)), says("one")).index == 0


def test_what_only_reads_is_found_in_every_user_turn(
    matcher: Make[Matcher], recorded: Make[Exchange], sent: Make[Request], hit: Make[Hit]
) -> None:
    models = replace(recorded(path="/v1/models", method="GET"), user_turn=1)
    matching = matcher(models, user_turn=1)
    matching.user_turn = 2
    assert hit(matching, sent(path="/v1/models", method="GET")).index == 0
