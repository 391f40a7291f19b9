from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.anthropic_messages import AnthropicMessages
from flowproof_addons.dialects.base import Dialect, Mock, ModelReply, StreamEvent, ToolCall, ToolResult, Usage
from flowproof_addons.testing import Sample
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonBody, JsonValue, Request

MESSAGES = AnthropicMessages()
type Load = Callable[[str, str], tuple[Dialect, Sample]]
REQUEST = Request("POST", "/v1/messages", "", JsonBody({"stream": True}))


@pytest.mark.parametrize(
    ("method", "path", "claimed"),
    [
        ("POST", "/v1/messages", True),
        ("POST", "/messages", True),
        ("POST", "/anthropic/v1/messages", True),
        ("POST", "/v1/v1/messages", True),
        ("GET", "/v1/messages", False),
        ("HEAD", "/v1/messages", False),
        ("POST", "/v1/messages/count_tokens", False),
        ("POST", "/v1/messages/batches", False),
        ("POST", "/v1/threads/thread_1/messages", False),
    ],
)
def test_turns_are_told_by_the_end_of_the_path(method: str, path: str, claimed: bool) -> None:
    assert MESSAGES.claims(method, path) is claimed


def test_a_request_is_read(load: Load) -> None:
    _, sample = load("anthropic-messages", "tools")
    asked = MESSAGES.read_request(sample.request)
    assert (asked.model, asked.system) == ("claude-sonnet-4-5", "You plan trips.\nBe brief.")
    assert asked.roles == ("user", "assistant", "user", "assistant", "user")
    assert asked.tools == ("weather", "now", "web_search")
    assert asked.results == (
        ToolResult("toolu_b", "weather", {"c": 21}, False, ("messages", 2, "content", 0, "content")),
        ToolResult("toolu_a", "weather", "no such city", True, ("messages", 2, "content", 1, "content")),
        ToolResult("toolu_c", "shoot", None, False, ("messages", 4, "content", 0, "content")),
    )
    assert asked.parallel == ((("messages", 2, "content", 0), ("messages", 2, "content", 1)),)
    assert asked.previous_id is None


def test_a_request_may_continue_a_thread_the_server_holds(load: Load) -> None:
    assert MESSAGES.read_request(load("anthropic-messages", "search")[1].request).previous_id == "msg_00"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "tools",
            ModelReply(
                text="Let me look 🔎",
                calls=(
                    ToolCall(
                        "toolu_1", "weather", {"city": "San Francisco", "at": 1.5}, '{"city":"San Francisco","at":1.50}'
                    ),
                    ToolCall("toolu_2", "now", {}, "{}"),
                ),
                usage=Usage(472, 133),
                model="claude-sonnet-4-5",
                id="msg_01A",
                stop="tool_use",
            ),
        ),
        (
            "search",
            ModelReply(
                text="It rained.",
                calls=(ToolCall("srvtoolu_1", "web_search", {"query": "rain"}, '{"query":"rain"}'),),
                usage=Usage(10682, 510),
                model="claude-opus-5",
                id="msg_01B",
                stop="end_turn",
            ),
        ),
    ],
)
def test_a_reply_is_read(load: Load, name: str, expected: ModelReply) -> None:
    assert MESSAGES.read_reply(load("anthropic-messages", name)[1].reply) == expected


def test_a_refusal_is_told_apart_from_an_answer() -> None:
    details: JsonValue = {"type": "refusal", "explanation": "too dangerous"}
    reply: JsonValue = {"content": [{"type": "text", "text": "I"}], "stop_reason": "refusal", "stop_details": details}
    assert MESSAGES.read_reply(reply).refusal == "too dangerous"
    assert MESSAGES.read_reply({"content": [], "stop_reason": "end_turn"}).refusal is None


@pytest.mark.parametrize(
    ("block", "mock", "expected"),
    [
        pytest.param({"content": "old"}, Mock({"a": 1}), {"content": '{"a":1}'}, id="text"),
        pytest.param(
            {"content": [{"type": "text", "text": "old"}]},
            Mock("new"),
            {"content": [{"type": "text", "text": "new"}]},
            id="a list of parts stays one",
        ),
        pytest.param(
            {"content": "old"}, Mock("no", is_error=True), {"content": "no", "is_error": True}, id="becomes an error"
        ),
        pytest.param(
            {"content": "no", "is_error": True}, Mock("yes"), {"content": "yes", "is_error": False}, id="is none now"
        ),
        pytest.param({}, Mock("new"), {"content": "new"}, id="where there was nothing"),
    ],
)
def test_a_mock_takes_the_shape_of_the_result(block: JsonValue, mock: Mock, expected: JsonValue) -> None:
    body: JsonValue = {"messages": [{"role": "user", "content": [{"type": "tool_result", **raw.as_object(block)}]}]}
    new = MESSAGES.substitute(body, {("messages", 0, "content", 0, "content"): mock})
    assert raw.found(new, ("messages", 0, "content", 0)) == {"type": "tool_result", **raw.as_object(expected)}


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([], id="nothing"),
        pytest.param([StreamEvent('{"type":"ping"}', "ping")], id="only a ping"),
        pytest.param(
            [StreamEvent('{"type":"error","error":{"type":"overloaded_error"}}', "error")], id="only an error"
        ),
        pytest.param([StreamEvent('{"type":"message_sta', "message_start")], id="cut in the first event"),
    ],
)
def test_a_stream_without_a_message_is_no_reply(events: list[StreamEvent]) -> None:
    assert MESSAGES.assemble(events) is None


def test_an_input_that_was_cut_stays_the_text_it_is(load: Load) -> None:
    _, sample = load("anthropic-messages", "search")
    asked: JsonValue = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": "b c"}}
    reply: JsonValue = {**raw.as_object(sample.reply), "content": [asked]}
    events = [e for e in MESSAGES.synthesise(reply, REQUEST) if "c\\" not in e.data]
    (call,) = MESSAGES.read_reply(MESSAGES.assemble(events)).calls
    assert call == ToolCall("t", "f", '{"a":"b', '{"a":"b')


@pytest.mark.parametrize(
    ("last", "total"),
    [
        ({}, {"input_tokens": 9, "output_tokens": 1}),
        ({"input_tokens": None, "output_tokens": 5}, {"input_tokens": 9, "output_tokens": 5}),
    ],
)
def test_a_count_the_last_event_leaves_out_stays_as_it_was(last: JsonValue, total: JsonValue) -> None:
    message: JsonValue = {"content": [], "usage": {"input_tokens": 9, "output_tokens": 1}}
    start = StreamEvent(raw.compact({"type": "message_start", "message": message}))
    end = StreamEvent(raw.compact({"type": "message_delta", "delta": {}, "usage": last}))
    assert raw.at(MESSAGES.assemble([start, end]), "usage") == total


TEXT = st.text(max_size=30)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
INPUT: st.SearchStrategy[Any] = st.dictionaries(TEXT, JSON, max_size=3)


def block(
    kind: str, required: dict[str, st.SearchStrategy[JsonValue]], **also: st.SearchStrategy[JsonValue]
) -> st.SearchStrategy[JsonValue]:
    return st.fixed_dictionaries({"type": st.just(kind), **required}, optional=also).map(dict)


CITATIONS: st.SearchStrategy[Any] = st.none() | st.lists(JSON, max_size=2)
BLOCK = st.one_of(
    block("text", {"text": TEXT}, citations=CITATIONS, x=JSON),
    block("thinking", {"thinking": TEXT}, signature=TEXT, x=JSON),
    block("redacted_thinking", {"data": TEXT}),
    block("tool_use", {"id": TEXT, "name": TEXT, "input": INPUT}, caller=JSON),
    block("server_tool_use", {"id": TEXT, "name": TEXT, "input": INPUT}),
    block("hologram", {"input": JSON, "text": JSON}, thinking=JSON, citations=JSON),
)
MESSAGE = st.fixed_dictionaries(
    {"content": st.lists(BLOCK, max_size=4)},
    optional={
        "id": TEXT,
        "type": st.just("message"),
        "role": st.just("assistant"),
        "model": TEXT,
        "stop_reason": st.none() | TEXT,
        "stop_sequence": st.none() | TEXT,
        "stop_details": JSON,
        "container": JSON,
        "context_management": JSON,
        "usage": st.fixed_dictionaries(
            {},
            optional={
                "input_tokens": st.integers(),
                "output_tokens": st.integers(),
                "cache_read_input_tokens": st.none() | st.integers(),
                "server_tool_use": JSON,
                "service_tier": JSON,
            },
        ).map(dict),
        "x": JSON,
    },
).map(dict)


@given(MESSAGE)
def test_a_message_survives_being_streamed(message: JsonValue) -> None:
    assembled = MESSAGES.assemble(MESSAGES.synthesise(message, REQUEST))
    assert json_value.same(assembled, message), raw.compact(assembled)
