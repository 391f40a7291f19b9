"""Where two values part, and in which order a reader learns of it."""

import pytest

from flowproof_addons.matching.difference import differences
from flowproof_addons.matching.excerpt import Excerpt, around, whole
from flowproof_addons.trace.json_value import parse
from flowproof_addons.trace.model import JsonValue

MARK: JsonValue = {"type": "ephemeral"}


def short(recorded: JsonValue, sent: JsonValue) -> list[tuple[str, str]]:
    return [(found.path, found.kind) for found in differences(recorded, sent)]


@pytest.mark.parametrize(
    ("recorded", "sent", "found"),
    [
        ("{}", "{}", []),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', []),
        ('{"a":1}', '{"a":2}', [("a", "different number")]),
        ('{"a":1}', '{"a":1.0}', [("a", "number literal")]),
        ('{"a":1.0}', '{"a":1.00}', [("a", "number literal")]),
        ('{"a":1}', '{"a":true}', [("a", "different type")]),
        ('{"a":true}', '{"a":false}', [("a", "different value")]),
        ('{"a":1}', '{"a":"1"}', [("a", "different type")]),
        ('{"a":null}', '{"a":""}', [("a", "null against empty")]),
        ('{"a":null}', "{}", [("a", "missing")]),
        ("{}", '{"a":[]}', [("a", "added")]),
        ('{"a":[1,2,3]}', '{"a":[1,3]}', [("a[1]", "missing item")]),
        ('{"a":[1,3]}', '{"a":[1,2,3]}', [("a[1]", "new item")]),
        ('{"a":[1,2,3]}', '{"a":[1,5,3]}', [("a[1]", "different number")]),
        ('{"a":[1,2,3,4]}', '{"a":[1,3,2,4]}', [("a[1]", "another order")]),
        ('{"a":"x"}', '{"a":[{"type":"text","text":"x"}]}', [("a", "text against list of text")]),
        ('{"a":"x"}', '{"a":[{"type":"text","text":"y"}]}', [("a", "different type")]),
        ('{"a.b":{"c":1}}', '{"a.b":{"c":2}}', [('"a.b".c', "different number")]),
        ("[]", "{}", [("", "null against empty")]),
    ],
)
def test_each_difference_has_its_place_and_kind(recorded: str, sent: str, found: list[tuple[str, str]]) -> None:
    assert short(parse(recorded), parse(sent)) == found


@pytest.mark.parametrize(
    ("recorded", "sent", "found"),
    [
        ('{"city":"Paris","n":1}', '{"city":"London","n":1}', [("arguments → city", "different text")]),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', [("arguments", "key order in JSON text")]),
        ('{"a": 1}', '{"a":1}', [("arguments", "white space in JSON text")]),
        ('{"a":', '{"b":', [("arguments", "different text")]),
    ],
)
def test_json_in_a_text_is_compared_inside(recorded: str, sent: str, found: list[tuple[str, str]]) -> None:
    assert short({"arguments": recorded}, {"arguments": sent}) == found


@pytest.mark.parametrize("name", ["tool_call_id", "tool_use_id", "call_id"])
def test_results_of_parallel_calls_are_told_apart_by_their_calls(name: str) -> None:
    """They are compared as a set: the one that changed may have changed places too."""
    recorded: JsonValue = [{name: "a", "content": "one"}, {name: "b", "content": "two"}, {name: "c", "content": "x"}]
    sent: JsonValue = [{name: "b", "content": "two"}, {name: "a", "content": "another"}, {name: "c", "content": "x"}]
    assert short(recorded, sent) == [("[0].content", "different text")]
    assert short(recorded, [{name: "b", "content": "two"}, {name: "d", "content": "one"}]) == [
        (f"[0].{name}", "different text"),
        ("[0].content", "different text"),
        (f"[1].{name}", "different text"),
        ("[1].content", "different text"),
        ("[2]", "missing item"),
    ]


def test_a_moved_cache_mark_is_told_last() -> None:
    recorded: JsonValue = {"m": [{"t": "a", "cache_control": MARK}, {"t": "b"}], "n": 1}
    sent: JsonValue = {"m": [{"t": "a"}, {"t": "b", "cache_control": MARK}], "n": 2}
    assert short(recorded, sent) == [
        ("n", "different number"),
        ("m[0].cache_control", "cache_control removed"),
        ("m[1].cache_control", "cache_control added"),
    ]


def test_an_inserted_message_is_one_difference() -> None:
    told: list[JsonValue] = [{"role": "user", "content": str(n)} for n in range(50)]
    assert short({"messages": told}, {"messages": [*told[:20], {"role": "system"}, *told[20:]]}) == [
        ("messages[20]", "new item")
    ]


def test_texts_are_cut_around_the_difference() -> None:
    recorded, sent = "a" * 5000 + " quick\n" + "b" * 5000, "a" * 5000 + " slow\n" + "b" * 5000
    (found,) = differences({"t": recorded}, {"t": sent})
    assert found.recorded == Excerpt("…" + "a" * 39 + " quick\\n" + "b" * 19 + "…", 41, 46)
    assert found.sent == Excerpt("…" + "a" * 39 + " slow\\n" + "b" * 19 + "…", 41, 45)


def test_an_excerpt_is_one_visible_line() -> None:
    assert around("a\tb\u202ec\x00", 2, 3) == Excerpt("a\\tb\\u202ec\\u0000", 3, 4)
    assert whole("x" * 500) == Excerpt("x" * 100 + "…")
    long = around("start" + "y" * 500 + "end", 5, 505)
    assert long.text == "start" + "y" * 30 + " … " + "y" * 30 + "end"
