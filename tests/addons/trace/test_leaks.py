"""A secret is found wherever it stands in a trace, however it is spelt."""

import base64
import json
from urllib.parse import quote

import pytest

from flowproof_addons.trace.leaks import Leak, find, find_in_text
from flowproof_addons.trace.model import (
    Attempt,
    BytesBody,
    Exchange,
    JsonBody,
    JsonValue,
    MultipartBody,
    Part,
    Reply,
    Request,
    Trace,
)

SECRET = 'hun"ter22/é'


def exchange(request: JsonValue = None, reply: JsonValue = None, dialect: str | None = "openai-chat") -> Exchange:
    return Exchange(Request("POST", "/v1", "", JsonBody(request)), Reply(200, JsonBody(reply)), dialect)


def trace(*exchanges: Exchange, mcp: JsonValue = None, mocks: JsonValue = None) -> Trace:
    return Trace("flowproof", "2026-12-02T00:00:00Z", "", exchanges, {"files": mcp} if mcp else {}, mocks)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        (f"it is {SECRET}", "plain"),
        (json.dumps({"a": SECRET}), "json"),
        (json.dumps({"arguments": json.dumps({"a": SECRET})}), "json"),
        ("p=" + quote(SECRET, safe=""), "url"),
        (quote(SECRET, safe="").lower(), "url"),
        ("Basic " + base64.b64encode(b"user:" + SECRET.encode()).decode(), "base64"),
        (base64.urlsafe_b64encode(b"ab" + SECRET.encode() + b"??>").decode(), "base64"),
        (SECRET.encode().hex(), "hex"),
        (SECRET.encode().hex().upper(), "hex"),
        (base64.encodebytes(b"x" * 50 + SECRET.encode() + b"y" * 50).decode(), "base64"),
        (SECRET.encode().hex(" ", 2), "hex"),
        ("${DB}", "hidden"),
        ("$$${DB:json}", "hidden"),
    ],
)
def test_every_spelling_is_found(text: str, spelling: str) -> None:
    assert find_in_text(text, "DB", SECRET) == spelling


@pytest.mark.parametrize("text", ['hun\n"ter22/é', "hunter22", "$${DB}", "${DB2}", "${OTHER}", "DB", ""])
def test_other_text_is_not(text: str) -> None:
    assert find_in_text(text, "DB", SECRET) is None


def test_places_are_named_by_turn_and_path() -> None:
    found = find(
        trace(
            exchange({"messages": [{"content": "a"}]}, {"choices": [{"text": SECRET}]}),
            exchange({"input": SECRET}, dialect=None),
            exchange({SECRET: 1}),
            mcp={"calls": [{"result": SECRET}]},
            mocks=[SECRET],
        ),
        "DB",
        SECRET,
    )
    assert found == [
        Leak(1, "reply.choices[0].text", "plain"),
        Leak(None, "side call 1: request.input", "plain"),
        Leak(2, "request (a key)", "plain"),
        Leak(None, "mcp.files.calls[0].result", "plain"),
        Leak(None, "mocks[0]", "plain"),
    ]


def test_a_text_that_later_turns_send_again_counts_once() -> None:
    first: JsonValue = {"content": SECRET}
    again: JsonValue = {"content": SECRET}
    found = find(trace(exchange({"messages": [first]}), exchange({"messages": [again, first]})), "DB", SECRET)
    assert [leak.path for leak in found] == ["request.messages[0].content"]


def test_requests_lines_headers_parts_and_attempts_are_searched() -> None:
    request = Request(
        "POST",
        f"/{SECRET}",
        f"q={quote(SECRET, safe='')}",
        MultipartBody((Part((("x", SECRET),), SECRET.encode()),)),
        {"user-agent": SECRET},
    )
    reply = Reply(200, BytesBody(b"\xff" + SECRET.encode()), {"x-id": SECRET})
    attempt = Attempt(429, {"x": SECRET}, BytesBody(SECRET.encode()))
    found = find(trace(Exchange(request, reply, "d", (attempt,))), "DB", SECRET)
    assert [leak.path for leak in found] == [
        "request path",
        "request query",
        "request header user-agent",
        "request part 0 header x",
        "request part 0",
        "reply header x-id",
        "reply",
        "attempts[0] header x",
        "attempts[0]",
    ]


def test_a_secret_split_over_a_stream_is_found() -> None:
    frames = tuple(b"data: " + json.dumps({"d": piece}).encode() + b"\n\n" for piece in ("hun", '"ter', "22/é"))
    turn = Exchange(Request("POST", "/", "", BytesBody(b"")), Reply(200, BytesBody(b""), frames=frames), "d")
    assert find(trace(turn), "DB", SECRET) == [Leak(1, "reply stream", "plain, in pieces")]


def test_a_trace_without_the_secret_has_no_leaks() -> None:
    assert find(trace(exchange({"messages": ["hunter"]}, {"a": "b"})), "DB", SECRET) == []
