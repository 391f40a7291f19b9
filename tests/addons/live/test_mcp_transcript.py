import pytest

from flowproof_addons.live.mcp_transcript import transcript
from flowproof_addons.mcp.message import Message


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read", "arguments": {"path": "x"}}},
            "tools/call read:\n  path: x\n",
        ),
        (
            {"method": "tools/call", "params": {"name": "read", "arguments": {}, "_meta": {"t": 1}}},
            "tools/call read: {}\n_meta:\n  t: 1\n",
        ),
        ({"method": "notifications/initialized"}, "notifications/initialized: {}\n"),
        ({"id": 1, "result": {"content": [{"type": "text", "text": "two\nlines"}]}}, "result: |\n  two\n  lines\n"),
        ({"id": 1, "result": {"content": [{"type": "text", "text": '{"a": 1}'}]}}, "result:\n  a: 1\n"),
        ({"id": 1, "result": {"content": [{"type": "text", "text": "[not json"}]}}, 'result: "[not json"\n'),
        (
            {"id": 1, "result": {"content": [{"type": "text", "text": "no"}], "isError": True}},
            '# the tool says that it failed\nresult: "no"\n',
        ),
        (
            {"id": 1, "result": {"content": [{"type": "text", "text": '{"a": 1}'}], "structuredContent": {"a": 1}}},
            "result: as structuredContent says\nstructuredContent:\n  a: 1\n",
        ),
        (
            {"id": 1, "result": {"content": [{"type": "image", "data": "x"}, {"type": "text", "text": "y"}]}},
            "result:\n  - type: image\n    data: x\n  - y\n",
        ),
        ({"id": 1, "result": {"tools": [{"name": "read"}]}}, "result:\n  tools:\n    - name: read\n"),
        ({"id": 1, "error": {"code": -32601, "message": "gone"}}, "error:\n  code: -32601\n  message: gone\n"),
    ],
)
def test_a_message_is_shown_by_what_it_is(message: Message, shown: str) -> None:
    assert transcript([message]) == shown


def test_a_batch_is_shown_message_by_message_below_the_remark() -> None:
    assert transcript([{"method": "a"}, {"method": "b"}], "sent by the server") == (
        "# sent by the server\n\na: {}\n\nb: {}\n"
    )
