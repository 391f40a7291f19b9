from __future__ import annotations

import pytest
from tests.addons.mcp.stage import request, tool_call

from flowproof_addons.mcp import message as rpc
from flowproof_addons.mcp.message import Message


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"}', ["request"]),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', ["request"]),
        (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', ["notification"]),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', ["answer"]),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}', ["answer"]),
        (b'[{"id":1,"method":"ping"},{"id":2,"result":{}}]', ["request", "answer"]),
    ],
)
def test_a_line_is_read_as_its_messages(text: bytes, kinds: list[str]) -> None:
    messages = rpc.read(text)
    assert messages is not None
    assert [rpc.kind(message) for message in messages] == kinds


@pytest.mark.parametrize("text", [b"", b"Server started", b"[]", b"3", b'[{"id":1},2]', b'{"id":1', b"\xff"])
def test_anything_else_is_not_a_message(text: bytes) -> None:
    assert rpc.read(text) is None


def test_numbers_are_written_as_they_were_read() -> None:
    text = b'{"id":1,"result":{"a":1e5,"b":1.0,"c":12345678901234567890}}'
    (message,) = rpc.read(text) or []
    assert rpc.write(message) == text


def key(message: Message) -> str:
    return rpc.key(rpc.method(message), rpc.compared(message), rpc.protocol(message))


def test_meta_does_not_count_but_the_era_does() -> None:
    plain = request(1, "tools/list", {"cursor": "2"})
    assert key(plain) == key(request("x", "tools/list", {"cursor": "2"}, {"progressToken": "3fb1", "traceparent": "0"}))
    assert key(plain) != key(request(1, "tools/list", {"cursor": "2"}, {rpc.META_VERSION: "2026-07-28"}))
    assert key(plain) != key(request(1, "tools/list", {"cursor": "3"}))


def test_an_initialize_is_known_by_its_protocol_version_alone() -> None:
    def opening(version: str, name: str) -> Message:
        return request(0, "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": name}})

    assert key(opening("2025-11-25", "a")) == key(opening("2025-11-25", "b"))
    assert key(opening("2025-11-25", "a")) != key(opening("2025-06-18", "a"))


def test_argument_order_does_not_count_and_types_do() -> None:
    assert key(tool_call(1, "t", a=1, b=2)) == key(tool_call(1, "t", b=2, a=1))
    assert key(tool_call(1, "t", a=1)) != key(tool_call(1, "t", a=1.0))
    assert key(tool_call(1, "t", a=1)) != key(tool_call(1, "t", a=True))
