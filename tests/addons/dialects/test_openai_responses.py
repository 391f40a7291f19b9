from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import Dialect, Mock, ModelReply, StreamEvent, ToolCall, ToolResult, Usage
from flowproof_addons.dialects.openai_responses import OpenAIResponses
from flowproof_addons.testing import Sample
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonBody, JsonValue, Request

RESPONSES = OpenAIResponses()
type Load = Callable[[str, str], tuple[Dialect, Sample]]
REQUEST = Request("POST", "/v1/responses", "", JsonBody({"stream": True}))


@pytest.mark.parametrize(
    ("method", "path", "claimed"),
    [
        ("POST", "/v1/responses", True),
        ("POST", "/responses", True),
        ("POST", "/openai/v1/responses/", True),
        ("GET", "/v1/responses", False),
        ("GET", "/v1/responses/resp_1", False),
        ("POST", "/v1/responses/resp_1/cancel", False),
        ("POST", "/v1/responses/compact", False),
        ("DELETE", "/v1/responses/resp_1", False),
    ],
)
def test_turns_are_told_by_the_end_of_the_path(method: str, path: str, claimed: bool) -> None:
    assert RESPONSES.claims(method, path) is claimed


def test_tools_are_found_in_the_input_too() -> None:
    """As Codex sends them."""
    more: JsonValue = {"type": "additional_tools", "tools": [{"type": "custom", "name": "exec"}]}
    body: JsonValue = {"tools": [{"type": "function", "name": "wait"}], "input": [more, {"role": "user"}]}
    asked = RESPONSES.read_request(Request("POST", "/v1/responses", "", JsonBody(body)))
    assert asked.tools == ("wait", "exec")


def test_a_request_is_read(load: Load) -> None:
    _, sample = load("openai-responses", "tools")
    asked = RESPONSES.read_request(sample.request)
    assert (asked.model, asked.system) == ("gpt-5-mini", "You plan trips.\nBe brief.")
    assert asked.roles == (
        "developer",
        "user",
        "reasoning",
        "function_call",
        "custom_tool_call",
        "function_call_output",
        "custom_tool_call_output",
        "shell_call",
        "shell_call_output",
        "apply_patch_call",
        "apply_patch_call_output",
    )
    assert asked.tools == ("weather", "grep", "now", "shell")
    streams: JsonValue = [{"stdout": "hello.txt\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
    assert asked.results == (
        ToolResult("call_a", "locate", {"lat": 48.85}, False, ("input", 5, "output")),
        ToolResult("call_b", "grep", "main.py:1", False, ("input", 6, "output")),
        ToolResult("call_c", "shell", streams, False, ("input", 8, "output")),
        ToolResult("call_d", "apply_patch", "no such file", True, ("input", 10, "output")),
    )
    assert asked.parallel == ((("input", 5), ("input", 6)),)
    assert asked.previous_id == "resp_0"


def test_an_input_of_plain_text_is_one_user_message(load: Load) -> None:
    assert RESPONSES.read_request(load("openai-responses", "text")[1].request).roles == ("user",)


def test_a_result_whose_call_is_in_an_earlier_request_has_no_name() -> None:
    """With `previous_response_id` the client sends the outputs only."""
    item: JsonValue = {"type": "function_call_output", "call_id": "c", "output": "1"}
    body = JsonBody({"input": [item], "previous_response_id": "resp_1"})
    asked = RESPONSES.read_request(Request("POST", "/v1/responses", "", body))
    assert asked.results == (ToolResult("c", "", 1, False, ("input", 0, "output")),)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "tools",
            ModelReply(
                text=None,
                calls=(
                    ToolCall("call_1", "weather", {"city": "Paris"}, '{"city":"Paris"}'),
                    ToolCall("call_2", "now", {}, ""),
                    ToolCall("call_3", "apply_patch", "*** Begin Patch", "*** Begin Patch"),
                    ToolCall(
                        "call_4",
                        "shell",
                        {"commands": ["ls"], "timeout_ms": 1000},
                        '{"commands":["ls"],"timeout_ms":1000}',
                    ),
                ),
                usage=Usage(81, 35, 116),
                model="gpt-5-mini-2025-08-07",
                id="resp_1",
                stop="completed",
            ),
        ),
        (
            "text",
            ModelReply(
                text="Rain today",
                calls=(
                    ToolCall(
                        "ws_1",
                        "web_search",
                        {"type": "search", "query": "rain"},
                        '{"type":"search","query":"rain"}',
                    ),
                ),
                usage=Usage(8, 2, 10),
                model="gpt-5-mini-2025-08-07",
                id="resp_2",
                stop="max_output_tokens",
            ),
        ),
        ("failed", ModelReply(None, (), Usage(), "gpt-5-mini-2025-08-07", "resp_3", "failed")),
    ],
)
def test_a_reply_is_read(load: Load, name: str, expected: ModelReply) -> None:
    assert RESPONSES.read_reply(load("openai-responses", name)[1].reply) == expected


def test_a_refusal_is_told_apart_from_an_answer() -> None:
    part: JsonValue = {"type": "refusal", "refusal": "I won't."}
    read = RESPONSES.read_reply({"output": [{"type": "message", "content": [part]}]})
    assert (read.text, read.refusal) == (None, "I won't.")


@pytest.mark.parametrize(
    ("item", "mock", "expected"),
    [
        pytest.param(
            {"type": "function_call_output", "output": "old"}, Mock({"a": 1}), {"output": '{"a":1}'}, id="text"
        ),
        pytest.param(
            {"type": "function_call_output", "output": [{"type": "input_text", "text": "old"}]},
            Mock("new"),
            {"output": [{"type": "input_text", "text": "new"}]},
            id="a list of parts stays one",
        ),
        pytest.param(
            {"type": "shell_call_output", "output": [{"stdout": "a", "stderr": "b"}]},
            Mock("done"),
            {"output": [{"stdout": "done", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]},
            id="a shell has streams",
        ),
        pytest.param(
            {"type": "shell_call_output", "output": []},
            Mock("broken", is_error=True),
            {"output": [{"stdout": "broken", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}]},
            id="and an exit code",
        ),
        pytest.param(
            {"type": "apply_patch_call_output", "status": "completed", "output": "ok"},
            Mock("no such file", is_error=True),
            {"status": "failed", "output": "no such file"},
            id="a patch has a status",
        ),
        pytest.param(
            {"type": "computer_call_output", "output": {"type": "computer_screenshot", "file_id": "f1"}},
            Mock({"type": "computer_screenshot", "file_id": "f2"}),
            {"output": {"type": "computer_screenshot", "file_id": "f2"}},
            id="a screenshot is an object",
        ),
    ],
)
def test_a_mock_takes_the_shape_of_the_result(item: JsonValue, mock: Mock, expected: JsonValue) -> None:
    new = RESPONSES.substitute({"input": [{"role": "user"}, item]}, {("input", 1, "output"): mock})
    assert raw.found(new, ("input", 1)) == raw.as_object(item) | raw.as_object(expected)


def lifecycle(kind: str, **response: JsonValue) -> StreamEvent:
    return StreamEvent(raw.compact({"type": kind, "response": dict(response)}), kind)


ITEM: JsonValue = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
DONE = StreamEvent(raw.compact({"type": "response.output_item.done", "output_index": 0, "item": ITEM}))


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([], None, id="nothing"),
        pytest.param([StreamEvent('{"type":"error","message":"overloaded"}', "error")], None, id="only an error"),
        pytest.param([StreamEvent('{"type":"response.cre')], None, id="cut in the first event"),
        pytest.param(
            [lifecycle("response.created", id="r", output=[]), DONE],
            {"id": "r", "output": [ITEM]},
            id="cut after an item",
        ),
        pytest.param(
            [lifecycle("response.created", id="r", output=[]), DONE, lifecycle("response.completed", id="r", x=1)],
            {"id": "r", "x": 1, "output": [ITEM]},
            id="a final event without output",
        ),
        pytest.param(
            [lifecycle("response.created", id="r"), DONE, lifecycle("response.completed", id="r", output=[{"a": 1}])],
            {"id": "r", "output": [{"a": 1}]},
            id="the final event has the last word",
        ),
    ],
)
def test_a_stream_leads_to_the_last_response_stated(events: list[StreamEvent], expected: JsonValue) -> None:
    assert RESPONSES.assemble(events) == expected


def test_events_are_numbered_and_named(load: Load) -> None:
    events = RESPONSES.synthesise(load("openai-responses", "tools")[1].reply, REQUEST)
    payloads = [raw.as_object(raw.parse(event.data)) for event in events]
    assert [payload["sequence_number"] for payload in payloads] == list(range(len(events)))
    assert [payload["type"] for payload in payloads] == [event.event for event in events]
    assert (events[0].event, events[-1].event) == ("response.created", "response.completed")


TEXT = st.text(max_size=30)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
KINDS = ["message", "reasoning", "function_call", "custom_tool_call", "mcp_call", "shell_call", "hologram"]
ITEM_FIELDS = {key: JSON for key in ("id", "content", "summary", "arguments", "input", "action", "status", "name")}
ITEMS = st.lists(st.fixed_dictionaries({"type": st.sampled_from(KINDS)}, optional=ITEM_FIELDS).map(dict), max_size=4)
RESPONSE = st.fixed_dictionaries(
    {"status": st.sampled_from(["completed", "incomplete", "failed", "queued", "in_progress", "cancelled"])},
    optional={"id": TEXT, "output": ITEMS, "usage": JSON, "error": JSON, "completed_at": JSON, "x": JSON},
).map(dict)


@given(RESPONSE)
def test_a_response_survives_being_streamed(response: JsonValue) -> None:
    assembled = RESPONSES.assemble(RESPONSES.synthesise(response, REQUEST))
    assert json_value.same(assembled, response), raw.compact(assembled)
