"""Digests: equal for equal requests, different for all others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.dialects import registry
from flowproof_addons.matching.canonical import Digester, arranged, compared, key
from flowproof_addons.trace.json_value import Number, same
from flowproof_addons.trace.model import BytesBody, JsonBody, JsonValue, MultipartBody, Part, Request

CHAT = registry.default().named("openai-chat")

values: st.SearchStrategy[JsonValue] = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 0.0, 1.0, Number("1.00"), "", "a", "1", "null", "\ud800"]),
    lambda child: st.lists(child, max_size=3) | st.dictionaries(st.sampled_from(["", "a", "b"]), child, max_size=3),
    max_leaves=8,
)


@given(values, values)
def test_digests_are_equal_exactly_when_the_values_are(one: JsonValue, other: JsonValue) -> None:
    assert (Digester().value(one) == Digester().value(other)) == same(one, other)


@given(st.lists(values, max_size=4))
def test_remembering_changes_no_digest(items: list[JsonValue]) -> None:
    forgetful, by_identity, by_content = Digester().value({"a": items}), Digester(lasting=True), Digester()
    for digester in (by_identity, by_content):
        assert digester.value({"a": items}) == digester.value({"a": [*items]}) == forgetful


def request(value: JsonValue) -> Request:
    return Request("POST", "/v1/chat/completions", "", JsonBody(value))


@pytest.mark.parametrize(
    "other",
    [
        Request("PUT", "/v1/chat/completions", "", JsonBody({"a": 1})),
        Request("POST", "/chat/completions", "", JsonBody({"a": 1})),
        Request("POST", "/v1/chat/completions", "x", JsonBody({"a": 1})),
        Request("POST", "/v1/chat/completions", "", BytesBody(b'{"a":1}')),
        Request("POST", "/v1/chat/completions", "", MultipartBody((Part((), b'{"a":1}'),))),
        Request("POST", "/v1/chat/completions", "", JsonBody({"a": 2})),
    ],
)
def test_everything_that_is_compared_is_in_the_key(other: Request) -> None:
    assert key(request({"a": 1}), CHAT) != key(other, CHAT)
    assert key(request({"a": 1}), CHAT) != key(request({"a": 1}), None)


def test_what_is_not_compared_is_dropped_from_turns_alone() -> None:
    streamed = JsonBody({"a": 1, "stream": True, "stream_options": {}})
    assert compared(streamed, True) == JsonBody({"a": 1})
    assert compared(streamed, False) is streamed
    assert compared(JsonBody({"a": {"stream": True}}), True) == JsonBody({"a": {"stream": True}})


def test_two_parts_are_not_one() -> None:
    one = MultipartBody((Part((), b"ab"),))
    two = MultipartBody((Part((), b"a"), Part((), b"b")))
    assert Digester().body(one) != Digester().body(two)


@given(st.permutations([0, 1, 2]), st.integers(0, 2))
def test_arranging_forgets_how_a_group_came_but_not_where_its_marks_stood(order: list[int], marked: int) -> None:
    def told(order: list[int]) -> JsonValue:
        items: list[JsonValue] = [{"id": index} for index in order]
        items[marked] = {"id": order[marked], "cache_control": True}
        return {"m": [{"c": items}]}

    group = [("m", 0, "c", index) for index in range(3)]
    value = told(order)
    assert same(arranged(value, value, [group]), arranged(told([0, 1, 2]), told([0, 1, 2]), [group]))
    assert same(value, told(order))
