"""Streams: relayed as they come, kept whole, replayed as they were (H35-H51)."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable

import pytest
import zstandard
from tests.e2e.scenario import Scenario, chat, python
from tests.e2e.upstream import Answer, Cut, Hold, Step, Upstream, named, reply, sse, stream

type New = Callable[..., Scenario]

BOTH = "assert_tool_call: get_time"


def chunk(delta: object, finish: str | None = None, **more: object) -> dict[str, object]:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "c-1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": choices, **more}


def text(*pieces: str) -> tuple[bytes, ...]:
    return sse(*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop"))


def held(frames: tuple[bytes, ...]) -> Answer:
    """Each frame goes out only after the agent has said that the one before it arrived."""
    steps: list[Step] = []
    for number, frame in enumerate(frames):
        steps += [frame, *([Hold(str(number))] if number + 1 < len(frames) else [])]
    return stream(steps)


@pytest.mark.parametrize("client", ["httpx", "aiohttp"])
def test_frames_are_relayed_as_they_arrive(client: str, scenario: New, upstream: Upstream) -> None:
    """H35, H48: a recorder that buffers would never see the second frame."""
    upstream.handler = lambda seen: held(text("Told ", "a ", "b ", "c ", "d"))
    flow = scenario(
        {"command": python("frames.py", client, "/v1/chat/completions"), "env": {"ACK_URL": upstream.url}},
        ["assert: reply equals Told a b c d"],
    )
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    assert upstream.missed == []
    upstream.stop()
    replayed = flow.run()
    assert (replayed.code, replayed.printed) == (0, recorded.printed), replayed.said


@pytest.mark.parametrize(
    ("path", "content_type", "frames"),
    [
        ("/api/chat", "application/x-ndjson", (b'{"message":"Told"}\n', b'{"done":false}\n', b'{"done":true}\n')),
        ("/model/m/converse-stream", "application/vnd.amazon.eventstream", ()),
    ],
    ids=["ndjson", "eventstream"],
)  # fmt: skip
def test_other_framings_are_relayed_too(
    path: str, content_type: str, frames: tuple[bytes, ...], scenario: New, upstream: Upstream
) -> None:
    """H46: Ollama's lines and Bedrock's binary frames, to the byte."""
    frames = frames or tuple(_eventstream(b"Told %d\n\n" % i) for i in range(3))
    answers = {path: stream((frames[0], Hold("0"), frames[1], Hold("1"), frames[2]), content_type)}
    upstream.handler = lambda seen: answers.get(seen.path) or reply(_completion("Told"))
    env = {"ACK_URL": upstream.url, "FRAME_END": "\n" if "ndjson" in content_type else "\n\n"}
    flow = scenario({"command": python("frames_then_chat.py", path), "env": env})
    recorded = flow.record()
    assert recorded.code == 0, recorded.said
    assert upstream.missed == []
    upstream.stop()
    replayed = flow.run()
    assert (replayed.code, replayed.printed) == (0, recorded.printed), replayed.said
    assert base64.b64decode(recorded.printed.splitlines()[0]) == b"".join(frames)


def _eventstream(payload: bytes) -> bytes:
    """One frame of `application/vnd.amazon.eventstream`: lengths, CRC, payload, CRC."""
    head = struct.pack(">II", 16 + len(payload), 0)
    body = head + struct.pack(">I", zlib.crc32(head)) + payload
    return body + struct.pack(">I", zlib.crc32(body))


def _completion(words: str) -> dict[str, object]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": words}}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "São Paulo 🌧"}'}}
SHAPES = {
    "all at once": [chunk({"tool_calls": [{"index": 0, **CALL}]})],
    "empty first": [
        chunk({"tool_calls": [{"index": 0, **CALL, "function": {"name": "get_weather", "arguments": ""}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"city": "São '}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'Paulo 🌧"}'}}]}),
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_both_shapes_of_a_tool_call_are_kept_as_they_came(shape: str, scenario: New, upstream: Upstream) -> None:
    """H38: what is assembled is the same, what the client sees are the recorded chunks."""
    upstream.handler = lambda seen: stream(
        text("Told") if b'"tool"' in seen.body else sse(*SHAPES[shape], chunk({}, "tool_calls"))
    )
    flow = scenario(python("openai_chat.py", "stream"), ["assert_tool_call: get_weather where city equals São Paulo 🌧"])
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), recorded.said + replayed.said
    assert replayed.printed == recorded.printed


def _interleaved() -> Answer:
    """Two calls whose deltas alternate, the second without arguments, a comment, a letter cut in two, usage last."""
    deltas = [
        {"role": "assistant", "content": None},
        {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "get_weather"}}]},
        {"tool_calls": [{"index": 1, "id": "b", "type": "function", "function": {"name": "get_time"}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": "São'}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ' Paulo 🌧"}'}}]},
    ]  # fmt: skip
    frames = [*sse(*(chunk(delta) for delta in deltas), chunk({}, "tool_calls"), done=False), b": keep-alive\n\n"]
    frames += sse(
        {**chunk({}), "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}}
    )
    wire = b"".join(frames)
    half = wire.index("🌧".encode()) + 2
    return stream((wire[:half], wire[half:]))


def test_interleaved_parallel_calls_are_both_seen(scenario: New, upstream: Upstream) -> None:
    """H40 and the streaming matrix of prior art; empty arguments read as {} and stay empty on the wire."""
    upstream.handler = lambda seen: stream(text("Told")) if b'"tool_call_id"' in seen.body else _interleaved()
    flow = scenario(
        python("frames_loop.py"),
        [
            "assert_tool_call: get_weather where city equals São Paulo 🌧",
            {"assert_tool_call": {"tool": "get_time", "args_exact": {}}},
        ],
    )
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), recorded.said + replayed.said
    assert replayed.printed == recorded.printed
    assert recorded.flow.counts.tool_calls == 2


def test_a_client_that_hangs_up_at_done_has_had_its_turn(scenario: New, upstream: Upstream) -> None:
    """H43: the SDK closes the socket before the stream's end; the turn is kept."""
    upstream.handler = lambda seen: stream((*text("Told"), Hold("closed")))
    flow = scenario(
        {"command": python("frames.py", "socket", "/v1/chat/completions"), "env": {"ACK_URL": upstream.url}},
        ["assert: reply equals Told"],
    )
    recorded = flow.record()
    assert (recorded.code, recorded.printed) == (0, "True\n"), recorded.said
    upstream.stop()
    replayed = flow.run()
    assert (replayed.code, replayed.printed) == (0, "True\n"), replayed.said


@pytest.mark.parametrize("retries", [2, 8])
def test_a_miss_is_not_retried(retries: int, scenario: New, upstream: Upstream) -> None:
    """H45, surprise 13: one request, an error the SDK shows, and the end."""
    flow = scenario(python("openai_retries.py", str(retries)))
    assert flow.record().code == 0
    flow.change(agent={"env": {"AGENT_QUESTION": "How is Lagos?"}})
    replayed = flow.run()
    assert (replayed.code, replayed.ids[0]) == (1, "model.divergence"), replayed.said
    assert "requests: 1\n" in replayed.printed
    assert replayed.printed.startswith("400 ")
    assert "flowproof" in replayed.printed


@pytest.mark.parametrize("coding", ["zstd", "gzip"])
def test_a_compressed_request_is_matched_by_what_it_says(coding: str, planned: New, upstream: Upstream) -> None:
    """H51: decoded for matching, forwarded as it was received."""
    body = json.dumps(chat()["body"]).encode()
    packed = zstandard.compress(body) if coding == "zstd" else zlib.compress(body, wbits=31)
    upstream.handler = lambda seen: reply(_completion("Told"))
    sent = {
        "path": "/v1/chat/completions",
        "base64": base64.b64encode(packed).decode(),
        "headers": {"content-encoding": coding},
    }
    flow = planned([sent])
    assert flow.record().code == 0
    assert upstream.seen[0].body == packed
    flow.plan([chat()])
    replayed = flow.run()
    assert replayed.code == 0, replayed.said


@pytest.mark.parametrize("coding", ["zstd", "gzip"])
def test_a_compressed_reply_reaches_the_agent_and_the_cassette(coding: str, planned: New, upstream: Upstream) -> None:
    """An upstream that compresses although it was asked not to."""
    body = json.dumps(_completion("Told")).encode()
    packed = zstandard.compress(body) if coding == "zstd" else zlib.compress(body, wbits=31)
    upstream.handler = lambda seen: Answer((packed,), headers=(("content-encoding", coding),))
    flow = planned([chat()], ["assert: reply equals Told"])
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), recorded.said + replayed.said
    assert upstream.seen[0].header("accept-encoding") in (None, "identity")
    assert json.loads(json.loads(replayed.printed)["text"])["id"] == "c"


def test_a_stream_that_breaks_off_breaks_off_again(planned: New, upstream: Upstream) -> None:
    """A cut is part of what the agent saw."""
    upstream.handler = lambda seen: stream((*text("Told")[:1], Cut.CLOSE))
    flow = planned([chat(stream=True), chat("again", stream=True)], ["assert: reply contains Told"])
    recorded = flow.record()
    upstream.stop()
    replayed = flow.run()
    assert replayed.code == recorded.code == 0, replayed.said
    assert [json.loads(line) for line in replayed.printed.splitlines()] == [{"error": "IncompleteRead"}] * 2
    assert replayed.printed == recorded.printed


def test_an_error_in_mid_stream_is_replayed(planned: New, upstream: Upstream) -> None:
    """Anthropic's overloaded_error after the first words."""
    started = {
        "type": "message_start",
        "message": {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": {}},
    }
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    upstream.handler = lambda seen: (
        stream(named(started, failed)) if seen.path.endswith("/messages") else reply(_completion("Told"))
    )
    body = {"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    flow = planned([{"path": "/v1/messages", "body": body}, chat()])
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), recorded.said + replayed.said
    assert replayed.printed == recorded.printed
    assert "overloaded_error" in recorded.printed


def test_unknown_events_survive(planned: New, upstream: Upstream) -> None:
    """What no dialect knows is served as it was recorded."""
    odd = b'event: vendor.hint\ndata: {"shard": 7}\n\nretry: 10\nid: 9\n\n'
    upstream.handler = lambda seen: stream((*text("Told")[:1], odd, *text("Told")[1:]))
    flow = planned([chat(stream=True)])
    recorded, replayed = flow.record(), flow.run()
    assert (recorded.code, replayed.code) == (0, 0), recorded.said + replayed.said
    assert replayed.printed == recorded.printed
    assert "vendor.hint" in recorded.printed


def test_a_cassette_of_either_kind_serves_both_kinds_of_client(planned: New, upstream: Upstream) -> None:
    """Recorded without streaming, replayed to a streaming client, and the other way round."""
    for first, second in ((chat(), chat(stream=True)), (chat(stream=True), chat())):
        flow = planned([first])
        assert flow.record().code == 0
        flow.plan([second])
        replayed = flow.run()
        answer = json.loads(replayed.printed)
        assert replayed.code == 0, replayed.said
        assert ("[DONE]" in answer["text"]) is bool(second["body"].get("stream"))
        assert "Told" in answer["text"]
