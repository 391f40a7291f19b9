"""Pinned texts known again."""

import json

import pytest

from flowproof_addons.matching.echo import Echo
from flowproof_addons.trace.json_value import same
from flowproof_addons.trace.model import BytesBody, JsonBody, Reply


@pytest.fixture
def echo() -> Echo:
    echo = Echo()
    echo.learn("/home/ann/proj", "/build/w1")
    echo.learn("e8297b", "0a1b2c")
    return echo


def served(echo: Echo, text: str) -> str:
    body = echo.serve(Reply(200, JsonBody({"t": text}))).body
    assert isinstance(body, JsonBody) and isinstance(body.value, dict)
    return str(body.value["t"])


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("see /home/ann/proj/a.txt", "see /build/w1/a.txt"),
        ("/home/ann/proj2 and /home/ann/projx", "/home/ann/proj2 and /home/ann/projx"),
        ("id e8297b.", "id 0a1b2c."),
        ("xe8297b e8297bx", "xe8297b e8297bx"),
    ],
)
def test_whole_words_are_served_as_the_runs_own(echo: Echo, text: str, own: str) -> None:
    assert served(echo, text) == own


@pytest.mark.parametrize(("one", "other"), [("13", "14"), ("2s", "3s"), ("same-text", "same-text")])
def test_short_and_equal_texts_are_not_learnt(one: str, other: str) -> None:
    echo = Echo()
    echo.learn(one, other)
    assert not echo
    assert echo.version == 0


def test_both_words_count_as_one(echo: Echo) -> None:
    assert same(echo.levelled(["in /build/w1/x"]), echo.levelled(["in /home/ann/proj/x"]))
    assert not same(echo.levelled(["in /build/w2/x"]), echo.levelled(["in /home/ann/proj/x"]))
    assert not same(echo.levelled(["in /build/w1/x"]), echo.levelled(["in e8297b/x"]))


def test_of_several_meanings_the_last_is_served_and_all_count_as_one(echo: Echo) -> None:
    echo.learn("e8297b", "ffffff")
    assert served(echo, "e8297b") == "ffffff"
    assert same(echo.levelled(["0a1b2c"]), echo.levelled(["ffffff"]))


def test_a_word_that_a_stream_brings_in_pieces_is_mapped_too(echo: Echo) -> None:
    def frames(*tokens: str) -> tuple[bytes, ...]:
        return tuple(b"data: " + json.dumps({"d": token}).encode() + b"\n\n" for token in tokens)

    reply = Reply(200, BytesBody(b""), frames=frames("cat /home", "/ann/pr", "oj/a.txt"))
    assert echo.serve(reply).frames == frames("cat /build/w1", "", "/a.txt")


def test_a_reply_without_them_is_served_as_it_is(echo: Echo) -> None:
    reply = Reply(200, JsonBody({"a": 1}, '{ "a":1 }'), {"x": "y"}, (b"data:1\n\n",))
    assert echo.serve(reply) == reply
