from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import Dialect, Mock, ModelReply, StreamEvent, ToolCall, ToolResult, Usage
from flowproof_addons.dialects.openai_chat import OpenAIChat
from flowproof_addons.testing import Sample
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonBody, JsonValue, Request

CHAT = OpenAIChat()
type Load = Callable[[str, str], tuple[Dialect, Sample]]


def asking(**body: JsonValue) -> Request:
    return Request("POST", "/v1/chat/completions", "", JsonBody(dict(body)))


USAGE_ASKED = asking(stream=True, stream_options={"include_usage": True})


@pytest.mark.parametrize(
    ("method", "path", "claimed"),
    [
        ("POST", "/v1/chat/completions", True),
        ("POST", "/chat/completions", True),
        ("POST", "/llm/openai/v1/chat/completions/", True),
        ("POST", "/openai/deployments/gpt/chat/completions", True),
        ("GET", "/v1/chat/completions", False),
        ("POST", "/v1/completions", False),
        ("POST", "/v1/chat/completions/chatcmpl-1", False),
        ("POST", "/v1/responses", False),
        ("HEAD", "/", False),
    ],
)
def test_turns_are_told_by_the_end_of_the_path(method: str, path: str, claimed: bool) -> None:
    assert CHAT.claims(method, path) is claimed


def test_a_request_is_read(load: Load) -> None:
    _, sample = load("openai-chat", "parallel")
    asked = CHAT.read_request(sample.request)
    assert (asked.model, asked.system) == ("gpt-5-mini", "You plan trips.\nAnswer in English.")
    assert asked.roles == ("developer", "system", "user", "assistant", "tool", "tool")
    assert asked.tools == ("locate", "weather", "draw")
    assert asked.results == (
        ToolResult("call_b", "locate", {"lat": -1.29}, False, ("messages", 4, "content")),
        ToolResult("call_a", "locate", {"lat": -23.5}, False, ("messages", 5, "content")),
    )
    assert asked.parallel == ((("messages", 4), ("messages", 5)),)
    assert CHAT.wants_stream(sample.request)


def test_results_of_two_turns_are_two_groups_and_a_lone_result_is_none() -> None:
    def turn(*ids: str) -> list[JsonValue]:
        calls: list[JsonValue] = [
            {"id": i, "type": "function", "function": {"name": "f", "arguments": ""}} for i in ids
        ]
        results: list[JsonValue] = [{"role": "tool", "tool_call_id": i} for i in ids]
        return [{"role": "assistant", "tool_calls": calls}, *results]

    asked = CHAT.read_request(asking(messages=[*turn("a", "b"), *turn("c"), *turn("d", "e")]))
    assert asked.parallel == (
        (("messages", 1), ("messages", 2)),
        (("messages", 6), ("messages", 7)),
    )


def test_legacy_functions_are_tools() -> None:
    call: JsonValue = {"name": "add", "arguments": '{"a": 1}'}
    told: JsonValue = {"role": "function", "name": "add", "content": "2"}
    request = asking(functions=[{"name": "add"}], messages=[{"role": "assistant", "function_call": call}, told])
    asked = CHAT.read_request(request)
    assert asked.tools == ("add",)
    assert asked.results == (ToolResult("", "add", 2, False, ("messages", 1, "content")),)
    reply = CHAT.read_reply({"choices": [{"message": {"function_call": call}}]})
    assert reply.calls == (ToolCall("", "add", {"a": 1}, '{"a": 1}'),)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "parallel",
            ModelReply(
                text=None,
                calls=(
                    ToolCall("call_1", "weather", {"city": "São Paulo 🌧"}, '{"city":"São Paulo 🌧"}'),
                    ToolCall("call_2", "weather", {}, ""),
                    ToolCall("call_3", "draw", "a cloud", "a cloud"),
                ),
                usage=Usage(57, 31, 88),
                model="gpt-5-mini-2025-08-07",
                id="chatcmpl-par1",
                stop="tool_calls",
            ),
        ),
        ("reasoning", ModelReply("Four", (), Usage(9, 7, 16), "deepseek-reasoner", "930c60df", "stop")),
        ("choices", ModelReply("Hey", (), Usage(), "gpt-4o", "chatcmpl-n2", "stop")),
    ],
)
def test_a_reply_is_read(load: Load, name: str, expected: ModelReply) -> None:
    assert CHAT.read_reply(load("openai-chat", name)[1].reply) == expected


def test_arguments_that_are_no_json_are_read_as_their_text() -> None:
    call: JsonValue = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    (read,) = CHAT.read_reply({"choices": [{"message": {"tool_calls": [call]}}]}).calls
    assert read == ToolCall("c", "f", '{"a": ', '{"a": ')


def test_usage_is_streamed_only_to_who_asked_for_it(load: Load) -> None:
    _, sample = load("openai-chat", "parallel")
    silent = CHAT.synthesise(sample.reply, asking(stream=True))
    assert not any("usage" in event.data for event in silent)
    asked = [event for event in CHAT.synthesise(sample.reply, USAGE_ASKED) if event.data != "[DONE]"]
    assert all("usage" in raw.as_object(raw.parse(event.data)) for event in asked)
    assert raw.at(raw.parse(asked[-1].data), "usage", "total_tokens") == 88


def test_every_chunk_carries_what_sdks_read_from_any_chunk(load: Load) -> None:
    _, sample = load("openai-chat", "parallel")
    for event in CHAT.synthesise(sample.reply, USAGE_ASKED)[:-1]:
        chunk = raw.as_object(raw.parse(event.data))
        assert chunk["object"] == "chat.completion.chunk"
        assert chunk["system_fingerprint"] == "fp_44709d6fcb"


def test_a_stream_ends_with_done(load: Load) -> None:
    assert CHAT.synthesise(load("openai-chat", "brace")[1].reply, USAGE_ASKED)[-1] == StreamEvent("[DONE]")


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([], id="nothing"),
        pytest.param([StreamEvent("[DONE]")], id="only the end"),
        pytest.param([StreamEvent('{"error":{"message":"overloaded"}}')], id="only an error"),
        pytest.param([StreamEvent('{"id":"c","choi')], id="cut in the first chunk"),
    ],
)
def test_a_stream_without_a_chunk_is_no_reply(events: list[StreamEvent]) -> None:
    assert CHAT.assemble(events) is None


def test_choices_stand_in_the_order_of_their_indexes() -> None:
    def chunk(index: int) -> StreamEvent:
        return StreamEvent(raw.compact({"choices": [{"index": index, "delta": {"content": str(index)}}]}))

    assert raw.at(CHAT.assemble([chunk(1), chunk(0)]), "choices") == [
        {"index": 0, "message": {"content": "0"}},
        {"index": 1, "message": {"content": "1"}},
    ]


def test_what_came_before_an_error_is_kept() -> None:
    chunk = '{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hal"}}]}'
    reply = CHAT.assemble([StreamEvent(chunk), StreamEvent('{"error":{"message":"overloaded"}}')])
    assert reply == {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": {"content": "Hal"}}]}


@pytest.mark.parametrize(
    ("content", "mock", "expected"),
    [
        pytest.param("old", Mock({"b": [1, "é"], "a": None}), '{"b":[1,"é"],"a":null}', id="an object as JSON"),
        pytest.param("old", Mock("booked"), "booked", id="a string as it is"),
        pytest.param("old", Mock(7), "7", id="a number"),
        pytest.param("old", Mock(None), "null", id="null"),
        pytest.param(None, Mock("x"), "x", id="where there was nothing"),
        pytest.param(
            [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "b"}],
            Mock({"ok": True}),
            [{"type": "text", "text": '{"ok":true}', "cache_control": {"type": "ephemeral"}}],
            id="a list of parts stays one",
        ),
    ],
)
def test_a_mock_takes_the_shape_of_the_result(content: JsonValue, mock: Mock, expected: JsonValue) -> None:
    body: JsonValue = {"messages": [{"role": "user"}, {"role": "tool", "tool_call_id": "c", "content": content}]}
    new = CHAT.substitute(body, {("messages", 1, "content"): mock})
    assert raw.found(new, ("messages", 1, "content")) == expected


def test_only_what_lies_on_the_way_to_a_result_is_copied() -> None:
    first: JsonValue = {"role": "user", "content": "x"}
    body: JsonValue = {"tools": [{"a": 1}], "messages": [first, {"role": "tool", "content": "old"}]}
    new = raw.as_object(CHAT.substitute(body, {("messages", 1, "content"): Mock("new")}))
    assert raw.as_list(new["messages"])[0] is first
    assert new["tools"] is raw.as_object(body)["tools"]


TEXT = st.text(max_size=30)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


def some(**given: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonValue]:
    """An object with any of these fields."""
    return st.fixed_dictionaries({}, optional=given).map(dict)


def both(*parts: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonValue]:
    """One object with the fields of all."""
    return st.tuples(*parts).map(lambda given: {k: v for part in given for k, v in raw.as_object(part).items()})


FUNCTION = both(st.just({"type": "function"}), some(id=TEXT, function=some(name=TEXT, arguments=TEXT, strict=JSON)))
CUSTOM = both(st.just({"type": "custom"}), some(id=TEXT, custom=some(name=TEXT, input=TEXT)))
MESSAGE = some(
    role=st.just("assistant"),
    content=st.none() | TEXT,
    refusal=st.none() | TEXT,
    tool_calls=st.lists(FUNCTION | CUSTOM, max_size=3),
    reasoning_content=JSON,
    reasoning=JSON,
    annotations=JSON,
    x_provider=JSON,
)
TOKENS: st.SearchStrategy[Any] = st.none() | st.lists(JSON, max_size=2)
CHOICE = both(
    some(finish_reason=st.none() | TEXT, logprobs=st.none() | some(content=TOKENS, refusal=TOKENS), x_filter=JSON),
    MESSAGE.map(lambda message: {"message": message}),
)
COMPLETION = both(
    some(id=TEXT, created=st.integers(), model=TEXT, system_fingerprint=st.none() | TEXT, usage=JSON, x_groq=JSON),
    st.lists(CHOICE, max_size=2).map(
        lambda choices: {
            "object": "chat.completion",
            "choices": [{"index": index, **raw.as_object(choice)} for index, choice in enumerate(choices)],
        }
    ),
)


@given(COMPLETION)
def test_a_completion_survives_being_streamed(completion: JsonValue) -> None:
    assembled = CHAT.assemble(CHAT.synthesise(completion, USAGE_ASKED))
    assert json_value.same(assembled, completion), raw.compact(assembled)
