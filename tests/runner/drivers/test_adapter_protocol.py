"""Lines of the adapter protocol, one by one."""

from __future__ import annotations

import pytest

from flowproof_runner.drivers.adapter_protocol import (
    Confirmation,
    Final,
    Hello,
    Message,
    ProtocolViolation,
    ToolCall,
    parse,
    run_start,
    tool_denied,
    tool_result,
)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"type":"tool_call","callId":"1","tool":"t"}', ToolCall("1", "t", {})),
        (b'{"type":"tool_call","callId":"1","tool":"t","arguments":{"a":1},"x":2}', ToolCall("1", "t", {"a": 1})),
        (b'{"type":"confirmation","confirmed":false,"tool":"t"}', Confirmation("t", False, None, "")),
        (
            b'{"type":"confirmation","confirmed":true,"tool":"t","source":"s","arguments":{}}',
            Confirmation("t", True, {}, "s"),
        ),
        (b'{"type":"final","status":"completed"}', Final("completed", None)),
        (b'{"type":"final","status":"x","output":[1]}', Final("x", [1])),
        (b'{"type":"hello","understands":["tool_denied"]}', Hello(frozenset({"tool_denied"}))),
    ],
)
def test_a_message_is_read(line: bytes, message: Message) -> None:
    assert parse(line) == message


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"[1]",
        b"{}",
        b'{"type":1}',
        b'{"type":"other"}',
        b'\xef\xbb\xbf{"type":"final","status":"completed"}',
        b'{"type":"tool_call","callId":"","tool":"t"}',
        b'{"type":"tool_call","callId":"1","tool":""}',
        b'{"type":"tool_call","callId":1,"tool":"t"}',
        b'{"type":"tool_call","callId":"1","tool":"t","arguments":null}',
        b'{"type":"tool_call","callId":"1","tool":"t","arguments":[]}',
        b'{"type":"confirmation","confirmed":"yes","tool":"t"}',
        b'{"type":"confirmation","confirmed":true,"tool":"t","source":1}',
        b'{"type":"confirmation","confirmed":true,"tool":"t","arguments":null}',
        b'{"type":"final","status":""}',
        b'{"type":"hello","understands":[1]}',
        b"\xff",
        b'{"type":"tool_call","callId":"1","tool":"t","arguments":{"a":NaN}}',
        b'{"type":"final","status":"x","output":-Infinity}',
        b'{"type":"final","status":"x","output":' + b"[" * 200 + b"]" * 200 + b"}",
        b'{"type":"final","status":"x","output":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_anything_else_breaks_the_protocol(line: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        parse(line)


def test_many_brackets_are_not_depth() -> None:
    line = b'{"type":"final","status":"x","output":' + b"[" * 199 + b"[],[{}]" + b"]" * 199 + b"}"
    with pytest.raises(ProtocolViolation, match="deeper than 200"):
        parse(line)
    wide = b'{"type":"final","status":"x","output":[' + b"[[]]," * 999 + b"[]]}"
    assert isinstance(parse(wide), Final)


def test_half_a_character_is_sent_as_json_writes_it() -> None:
    assert (
        tool_result(ToolCall("1", "t", {}), "\ud800")
        == b'{"type":"tool_result","callId":"1","tool":"t","result":"\\ud800"}\n'
    )


def test_what_is_sent_is_one_line_of_json() -> None:
    call = ToolCall("1", "t", {})
    assert run_start("s", "do\nit", None, has_data=False) == (
        b'{"type":"run_start","scenarioId":"s","input":{"message":"do\\nit"}}\n'
    )
    assert b'"data":null' in run_start("s", "m", None, has_data=True)
    assert tool_result(call, {"ä": 1}) == '{"type":"tool_result","callId":"1","tool":"t","result":{"ä":1}}\n'.encode()
    assert tool_denied(call, "no") == b'{"type":"tool_denied","callId":"1","tool":"t","reason":"no"}\n'
