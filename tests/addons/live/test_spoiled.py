"""What a fault does to an answer."""

from __future__ import annotations

import json

import pytest

from flowproof_addons.dialects.base import Dialect
from flowproof_addons.dialects.registry import default
from flowproof_addons.live.spoiled import MESSAGE, UnspoilableError, failure, spoiled
from flowproof_addons.session import ModelFault
from flowproof_addons.trace.model import BytesBody, JsonBody, JsonValue, Reply, Request

ARGUMENTS: JsonValue = {"city": "Nairobi"}
TEXT = json.dumps(ARGUMENTS)

CALLING: dict[str, JsonValue] = {
    "openai-chat": {
        "id": "c",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "t1", "type": "function", "function": {"name": "look", "arguments": TEXT}},
                        {"id": "t2", "type": "function", "function": {"name": "look", "arguments": ""}},
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
    },
    "openai-responses": {
        "id": "r",
        "object": "response",
        "status": "completed",
        "output": [
            {
                "type": "function_call",
                "id": "fc",
                "call_id": "t1",
                "name": "look",
                "arguments": TEXT,
                "status": "completed",
            }
        ],
    },
    "anthropic-messages": {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": ARGUMENTS}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
    },
    "gemini": {"candidates": [{"content": {"parts": [{"functionCall": {"name": "look", "args": ARGUMENTS}}]}}]},
    "ollama-chat": {
        "model": "m",
        "message": {"role": "assistant", "tool_calls": [{"function": {"name": "look", "arguments": ARGUMENTS}}]},
        "done": True,
    },
}
STREAMING: JsonValue = {"stream": True, "model": "m"}


def dialect(name: str) -> Dialect:
    found = default().named(name)
    assert found is not None
    return found


def fault(kind: str, **more: object) -> ModelFault:
    return ModelFault.model_validate({"label": "x", "turn": 1, "kind": kind, **more})


def request(name: str, *, stream: bool) -> Request:
    path = "/v1/models/m:streamGenerateContent" if name == "gemini" and stream else "/v1/x"
    return Request("POST", path, "alt=sse" if stream else "", JsonBody({"stream": stream}))


@pytest.mark.parametrize("name", CALLING)
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_the_arguments_of_every_call_are_cut_off_and_the_rest_is_as_it_was(name: str, stream: bool) -> None:
    reads, whole = dialect(name), CALLING[name]
    before = json.dumps(whole)
    spoilt = spoiled(fault("malformed"), Reply(200, JsonBody(whole)), reads, request(name, stream=stream))
    assert isinstance(spoilt.body, JsonBody)
    was, now = reads.read_reply(whole), reads.read_reply(spoilt.body.value)
    assert [(call.id, call.name) for call in now.calls] == [(call.id, call.name) for call in was.calls]
    for call in now.calls:
        with pytest.raises(ValueError):
            json.loads(str(call.arguments))
    assert (now.id, now.stop, json.dumps(whole)) == (was.id, was.stop, before)
    assert (spoilt.frames is not None) is stream


def test_a_stream_says_broken_arguments_as_a_model_that_was_cut_off_would() -> None:
    """Where a message carries an object, its stream carries the text: there it can be cut in the middle."""
    reply = Reply(200, JsonBody(CALLING["anthropic-messages"]))
    spoilt = spoiled(fault("malformed"), reply, dialect("anthropic-messages"), request("", stream=True))
    pieces = [json.loads(f.split(b"data: ")[1]).get("delta", {}).get("partial_json", "") for f in spoilt.frames or ()]
    assert "".join(pieces) == '{"city":"'


def test_an_answer_without_calls_cannot_have_its_arguments_broken() -> None:
    reply = Reply(200, JsonBody({"choices": [{"message": {"content": "hello"}}]}))
    with pytest.raises(UnspoilableError, match="calls no tool"):
        spoiled(fault("malformed"), reply, dialect("openai-chat"), request("openai-chat", stream=False))


@pytest.mark.parametrize(("frames", "kept"), [(0, 0), (2, 2), (9, 3), (None, 2)], ids=["none", "two", "most", "half"])
def test_a_stream_is_cut_after_so_many_frames_and_never_whole(frames: int | None, kept: int) -> None:
    stream = tuple(b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"%d"}}]}\n\n' % i for i in range(4))
    reads = dialect("openai-chat")
    cut = spoiled(fault("cut", frames=frames), Reply(200, BytesBody(b""), {}, stream), reads, request("", stream=True))
    assert (cut.frames, cut.cut) == (stream[:kept], True)
    said = reads.read_reply(cut.body.value).text if isinstance(cut.body, JsonBody) else None
    assert said == ("".join(map(str, range(kept))) or None)


def test_an_answer_that_is_no_stream_is_cut_in_half() -> None:
    reply = Reply(200, JsonBody({"choices": []}), {"content-type": "application/json"})
    cut = spoiled(fault("cut", frames=7), reply, dialect("openai-chat"), request("", stream=False))
    assert (cut.body, cut.cut) == (BytesBody(b'{"choic'), True)


@pytest.mark.parametrize(
    ("name", "status", "body"),
    [
        (
            "openai-chat",
            429,
            {"error": {"message": MESSAGE, "type": "requests", "param": None, "code": "rate_limit_exceeded"}},
        ),
        ("openai-responses", 500, {"error": {"message": MESSAGE, "type": "server_error", "param": None, "code": None}}),
        ("anthropic-messages", 529, {"type": "error", "error": {"type": "overloaded_error", "message": MESSAGE}}),
        ("anthropic-messages", 500, {"type": "error", "error": {"type": "api_error", "message": MESSAGE}}),
        ("gemini", 429, {"error": {"code": 429, "message": MESSAGE, "status": "RESOURCE_EXHAUSTED"}}),
        ("ollama-chat", 503, {"error": MESSAGE}),
    ],
)
def test_an_error_has_the_shape_its_api_gives_it(name: str, status: int, body: JsonValue) -> None:
    reply = failure(fault("answer", status=status, retry_after_s=1.5), dialect(name))
    assert (reply.status, json.loads(reply.body)) == (status, body)
    assert reply.headers == {"content-type": "application/json", "retry-after": "1.5"}
