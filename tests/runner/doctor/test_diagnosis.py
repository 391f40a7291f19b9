"""What counts as wired, as sent again and as varied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowproof_addons.trace.model import Attempt, BytesBody, Exchange, JsonBody, JsonValue, Reply, Request
from flowproof_runner.containment.report import ENFORCED, Violation
from flowproof_runner.doctor.diagnosis import Arrival, Diagnosis, arrivals, retries
from flowproof_runner.doctor.varied import varied
from flowproof_runner.findings import Exit

TURN = Arrival("openai-chat", "POST", "/v1/chat/completions", "OpenAI/Python", "OPENAI_BASE_URL", 200, 1)
SIDE = replace(TURN, dialect=None, path="/v1/models")
WIRED = Diagnosis("agent", "exited", 0, (TURN,), 0, (), ENFORCED, {})
ELSEWHERE = Violation("198.51.100.9:443", "tcp")


def turn(content: JsonValue, digest: str = "", **more: object) -> Exchange:
    messages: JsonValue = {"messages": content if isinstance(content, list) else [{"content": content}]}
    request = Request("POST", "/via-OPENAI_BASE_URL/v1/chat/completions", "", JsonBody(messages), {}, digest)
    return Exchange(request, Reply(200, BytesBody(b"")), "openai-chat", **more)  # type: ignore[arg-type]  # test's own


@pytest.mark.parametrize(
    ("diagnosis", "expected"),
    [
        (WIRED, Exit.PASS),
        (replace(WIRED, arrivals=()), Exit.FAILED),
        (replace(WIRED, arrivals=(SIDE,)), Exit.FAILED),
        (replace(WIRED, elsewhere=(ELSEWHERE,)), Exit.FAILED),
        (replace(WIRED, problems=("a hook failed",)), Exit.UNUSABLE),
    ],
)
def test_wired_means_a_model_request_arrived_and_nothing_went_elsewhere(diagnosis: Diagnosis, expected: Exit) -> None:
    assert diagnosis.exit is expected


def test_only_what_led_a_model_request_here_was_honoured() -> None:
    assert replace(WIRED, arrivals=(replace(SIDE, via="OLLAMA_HOST"), TURN)).honoured == ("OPENAI_BASE_URL",)


def test_requests_of_one_kind_are_counted_together() -> None:
    found = list(arrivals([turn("a"), turn("b")]))
    assert [(each.path, each.via, each.count) for each in found] == [("/v1/chat/completions", "OPENAI_BASE_URL", 2)]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ([turn("a", "1"), turn("b", "2")], 0),
        ([turn("a", "1"), turn("a", "1")], 1),
        ([turn("a", "1"), turn("b", "2"), turn("a", "1")], 0),
        ([turn("a", "1", attempts=(Attempt(429), Attempt(500)))], 2),
    ],
)
def test_a_retry_is_the_same_turn_again_or_a_try_that_failed(run: list[Exchange], expected: int) -> None:
    assert retries(run) == expected


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Today is 2026-12-02.", "Today is 2026-12-03.", "two dates"),
        ("at 10:31:07", "at 10:31:09", "two clock times"),
        ("a 11111111-2222-3333-4444-555555555555", "a 66666666-7777-8888-9999-000000000000", "two UUIDs"),
        ("in /home/a/work now", "in /home/b/work now", "two paths"),
        ("id 0a1b2c3d4e5f", "id 5f4e3d2c1b0a", "two hexadecimal ids"),
    ],
)
def test_every_kind_of_volatile_text_comes_with_its_pin(one: str, other: str, kind: str) -> None:
    (found,) = varied([turn(one)], [turn(other)])
    assert found.kind == kind
    assert found.pin[0] == "  - at: messages[*].content"


def test_results_in_another_order_are_to_be_compared_as_a_set() -> None:
    first: list[JsonValue] = [{"content": "x"}, {"content": "y"}]
    (found,) = varied([turn(first)], [turn(first[::-1])])
    assert found.pin[:2] == ("  - at: messages", "    unordered: true")


def test_an_edited_sentence_is_told_and_never_pinned() -> None:
    (found,) = varied([turn("You are kind and fair")], [turn("You are terse and cruel")])
    assert (found.kind, found.pin) == ("different text", ())


def test_two_equal_runs_vary_in_nothing() -> None:
    assert varied([turn("a")], [turn("a")]) == ()


def test_another_number_of_turns_is_a_variation() -> None:
    (found,) = varied([turn("a"), turn("b")], [turn("a")])
    assert (found.path, found.first, found.second) == ("model requests", "2", "1")


def test_what_later_turns_send_again_is_told_once() -> None:
    one, other = turn("Today is 2026-12-02."), turn("Today is 2026-12-03.")
    assert len(varied([one, one], [other, other])) == 1
