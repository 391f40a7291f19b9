from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.dialects import raw
from flowproof_addons.dialects.base import Dialect, Mock, ModelReply, StreamEvent, ToolCall, ToolResult, Usage
from flowproof_addons.dialects.gemini import Gemini
from flowproof_addons.testing import Sample
from flowproof_addons.trace import json_value
from flowproof_addons.trace.model import JsonBody, JsonValue, Request

GEMINI = Gemini()
type Load = Callable[[str, str], tuple[Dialect, Sample]]
STREAM = "/v1beta/models/gemini-3-flash:streamGenerateContent"
REQUEST = Request("POST", STREAM, "alt=sse", JsonBody({}))


@pytest.mark.parametrize(
    ("method", "path", "claimed"),
    [
        ("POST", "/v1beta/models/gemini-3-flash:generateContent", True),
        ("POST", "/v1/models/gemini-3-flash:streamGenerateContent", True),
        ("POST", "/models/gemini-3-flash:generateContent", True),
        ("POST", "/v1/projects/p/locations/l/publishers/google/models/gemini-3-flash:generateContent", True),
        ("POST", "/v1beta/models/gemini-3-flash:countTokens", False),
        ("POST", "/v1beta/models/text-embedding:embedContent", False),
        ("POST", "/v1beta/models/gemini-3-flash:batchGenerateContent", False),
        ("GET", "/v1beta/models/gemini-3-flash", False),
    ],
)
def test_turns_are_told_by_the_method_behind_the_model(method: str, path: str, claimed: bool) -> None:
    assert GEMINI.claims(method, path) is claimed


@pytest.mark.parametrize(
    ("path", "query", "streamed"),
    [
        (STREAM, "alt=sse", True),
        (STREAM, "key=k&alt=sse", True),
        (STREAM, "", False),
        ("/v1beta/models/gemini-3-flash:generateContent", "", False),
    ],
)
def test_the_path_and_the_query_ask_for_a_stream(path: str, query: str, streamed: bool) -> None:
    assert GEMINI.wants_stream(Request("POST", path, query, JsonBody({}))) is streamed


def test_a_request_is_read(load: Load) -> None:
    asked = GEMINI.read_request(load("gemini", "tools")[1].request)
    assert (asked.model, asked.system) == ("gemini-3-flash", "You plan trips.\nBe brief.")
    assert asked.roles == ("user", "model", "user")
    assert asked.tools == ("weather", "now", "googleSearch")

    def path(position: int) -> tuple[str | int, ...]:
        return ("contents", 2, "parts", position, "functionResponse", "response")

    assert asked.results == (
        ToolResult("a", "locate", {"lat": 48.85, "lon": 2.35}, False, path(0)),
        ToolResult("", "grep", "main.py:1", False, path(1)),
        ToolResult("", "shoot", "no ball", True, path(2)),
    )
    assert asked.parallel == (tuple(("contents", 2, "parts", position) for position in range(3)),)


def test_a_reply_is_read(load: Load) -> None:
    assert GEMINI.read_reply(load("gemini", "tools")[1].reply) == ModelReply(
        text="Let me look 🔎",
        calls=(
            ToolCall("fc-1", "weather", {"city": "Paris", "at": 1.5}, '{"city":"Paris","at":1.5}'),
            ToolCall("", "now", {}, "{}"),
        ),
        usage=Usage(9, 21, 42),
        model="gemini-3-flash",
        id="r-1",
        stop="STOP",
    )


def test_a_blocked_prompt_is_a_refusal(load: Load) -> None:
    read = GEMINI.read_reply(load("gemini", "blocked")[1].reply)
    assert (read.text, read.refusal) == (None, "PROHIBITED_CONTENT")


def test_a_stream_in_one_json_array_is_read_and_streamed_like_its_sum(load: Load) -> None:
    _, sample = load("gemini", "tools")
    array: JsonValue = [raw.parse(event.data) for event in GEMINI.synthesise(sample.reply, REQUEST)]
    assert GEMINI.read_reply(array) == GEMINI.read_reply(sample.reply)
    assert GEMINI.assemble(GEMINI.synthesise(array, REQUEST)) == sample.reply


@pytest.mark.parametrize(
    ("response", "mock", "expected"),
    [
        pytest.param({"lat": 1}, Mock({"lat": 2}), {"lat": 2}, id="an object as it is"),
        pytest.param({"lat": 1}, Mock("words"), {"result": "words"}, id="anything else is wrapped"),
        pytest.param({"result": 1}, Mock({"lat": 2}), {"result": {"lat": 2}}, id="a wrapping agent stays one"),
        pytest.param({"output": 1}, Mock([1]), {"output": [1]}, id="with its own wrapper"),
        pytest.param({"lat": 1}, Mock("no", is_error=True), {"error": "no"}, id="becomes an error"),
        pytest.param({"error": "no"}, Mock("yes"), {"result": "yes"}, id="is none now"),
    ],
)
def test_a_mock_takes_the_shape_of_the_result(response: JsonValue, mock: Mock, expected: JsonValue) -> None:
    body: JsonValue = {"contents": [{"parts": [{"functionResponse": {"name": "f", "response": response}}]}]}
    path = ("contents", 0, "parts", 0, "functionResponse", "response")
    assert raw.found(GEMINI.substitute(body, {path: mock}), path) == expected


def test_an_error_in_a_stream_is_no_reply() -> None:
    assert GEMINI.assemble([StreamEvent('{"error":{"code":503,"message":"overloaded"}}')]) is None


TEXT = st.text(max_size=30)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
SAID = st.fixed_dictionaries({"text": TEXT}, optional={"thoughtSignature": TEXT}).map(dict)
CALL = st.fixed_dictionaries({"functionCall": JSON}, optional={"thoughtSignature": TEXT}).map(dict)
PARTS = st.lists(st.tuples(SAID, CALL), max_size=2).map(lambda pairs: [part for pair in pairs for part in pair])
"""Texts next to each other are one text to the API, so none are."""
CONTENT = st.fixed_dictionaries({"parts": PARTS}, optional={"role": st.just("model")}).map(dict)
CANDIDATE = st.fixed_dictionaries({"content": CONTENT}, optional={"finishReason": TEXT, "x": JSON}).map(dict)
RESPONSE = st.fixed_dictionaries(
    {"candidates": st.lists(CANDIDATE, min_size=1, max_size=2)},
    optional={"usageMetadata": JSON, "modelVersion": TEXT, "responseId": TEXT, "x": JSON},
).map(dict)


@given(RESPONSE)
def test_a_response_survives_being_streamed(response: JsonValue) -> None:
    candidates = [{**raw.as_object(c), "index": i} for i, c in enumerate(raw.as_list(raw.at(response, "candidates")))]
    response = {**raw.as_object(response), "candidates": list[JsonValue](candidates)}
    assembled = GEMINI.assemble(GEMINI.synthesise(response, REQUEST))
    assert json_value.same(assembled, response), raw.compact(assembled)
