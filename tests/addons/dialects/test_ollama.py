from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import Dialect, ModelReply, StreamEvent, ToolCall, ToolResult, Usage
from flowproof_addons.dialects.ollama import OllamaChat
from flowproof_addons.testing import Sample
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonBody, JsonValue, Request

OLLAMA = OllamaChat()
type Load = Callable[[str, str], tuple[Dialect, Sample]]
REQUEST = Request("POST", "/api/chat", "", JsonBody({}))


@pytest.mark.parametrize(
    ("method", "path", "claimed"),
    [
        ("POST", "/api/chat", True),
        ("POST", "/ollama/api/chat", True),
        ("GET", "/api/chat", False),
        ("POST", "/api/generate", False),
        ("POST", "/api/embed", False),
        ("GET", "/api/tags", False),
    ],
)
def test_turns_are_told_by_the_end_of_the_path(method: str, path: str, claimed: bool) -> None:
    assert OLLAMA.claims(method, path) is claimed


@pytest.mark.parametrize(("body", "streamed"), [({}, True), ({"stream": True}, True), ({"stream": False}, False)])
def test_it_streams_unless_told_not_to(body: JsonValue, streamed: bool) -> None:
    assert OLLAMA.wants_stream(Request("POST", "/api/chat", "", JsonBody(body))) is streamed


def test_a_request_is_read(load: Load) -> None:
    asked = OLLAMA.read_request(load("ollama-chat", "tools")[1].request)
    assert (asked.model, asked.system, asked.tools) == ("qwen3", "You plan trips.", ("weather",))
    assert asked.roles == ("system", "user", "assistant", "tool", "tool")
    assert asked.results == (
        ToolResult("", "locate", {"lat": 48.85}, False, ("messages", 3, "content")),
        ToolResult("", "grep", "main.py:1", False, ("messages", 4, "content")),
    )
    assert asked.parallel == ((("messages", 3), ("messages", 4)),)


def test_a_reply_is_read(load: Load) -> None:
    assert OLLAMA.read_reply(load("ollama-chat", "tools")[1].reply) == ModelReply(
        text="Let me look",
        calls=(ToolCall("", "weather", {"city": "Paris"}, '{"city":"Paris"}'), ToolCall("", "now", {}, "{}")),
        usage=Usage(26, 12),
        model="qwen3",
        id="",
        stop="stop",
    )


def test_an_error_in_a_stream_is_no_reply() -> None:
    assert OLLAMA.assemble([StreamEvent('{"error":"model not found"}')]) is None


TEXT = st.text(max_size=30)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
CALLS = st.lists(st.dictionaries(st.just("function"), JSON, min_size=1), max_size=2)
MESSAGE = st.fixed_dictionaries(
    {}, optional={"role": st.just("assistant"), "content": TEXT, "thinking": TEXT, "tool_calls": CALLS, "x": JSON}
).map(dict)
REPLY = st.fixed_dictionaries(
    {"message": MESSAGE, "done": st.just(True)},
    optional={"model": TEXT, "created_at": TEXT, "eval_count": JSON, "x": JSON},
).map(dict)


@given(REPLY)
def test_a_reply_survives_being_streamed(reply: JsonValue) -> None:
    assembled = OLLAMA.assemble(OLLAMA.synthesise(reply, REQUEST))
    assert json_value.same(assembled, reply), raw.compact(assembled)
