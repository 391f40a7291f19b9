"""The recording a diverging request was meant to be."""

from collections.abc import Callable

import pytest

from flowproof_addons.matching.canonical import Digester
from flowproof_addons.matching.nearest import nearest
from flowproof_addons.matching.rules import Rules
from flowproof_addons.matching.view import View
from flowproof_addons.trace.model import JsonValue, Request

type Make[T] = Callable[..., T]


@pytest.fixture
def view(sent: Make[Request]) -> Callable[..., View]:
    def make(
        *contents: str, model: str = "m", path: str = "/v1/chat/completions", dialect: str | None = "openai-chat"
    ) -> View:
        told: list[JsonValue] = [{"role": "user", "content": content} for content in contents]
        request = sent({"model": model, "messages": told}, path=path)
        return View(request, dialect, None, Rules([]), True, Digester())

    return make


def test_most_in_common_wins_and_of_equals_the_earlier(view: Make[View]) -> None:
    recorded = [view("a", "b"), view("x", "y"), view("a", "c"), view("x", "z")]
    assert nearest(view("x", "q"), recorded, set()) == 1
    assert nearest(view("a", "c", "d"), recorded, set()) == 2


def test_unused_recordings_come_first_but_a_used_one_is_better_than_none(view: Make[View]) -> None:
    recorded = [view("a", "b"), view("x", "y")]
    assert nearest(view("a", "b"), recorded, {0}) == 1
    assert nearest(view("a", "b"), recorded, {0, 1}) == 0


def test_a_turn_is_compared_with_turns_and_the_same_api_first(view: Make[View]) -> None:
    recorded = [view("a", dialect=None), view("a", path="/v1/messages", dialect="anthropic-messages"), view("q")]
    assert nearest(view("a"), recorded, set()) == 2
    assert nearest(view("a", dialect=None), recorded, set()) == 0
    assert nearest(view("a", dialect=None), recorded[1:], set()) is None


def test_only_a_bounded_number_of_recordings_is_read(view: Make[View]) -> None:
    recorded = [view(*map(str, range(length))) for length in range(300)]
    assert nearest(view(*map(str, range(250)), "new"), recorded, set()) == 251
    assert sum("marked" in vars(found) for found in recorded) <= 48
