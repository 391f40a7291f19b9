from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.mcp.sse import Event, Splitter, frame

STREAM = (
    b": hello\r\n\r\n"
    b"id: 1\r\nretry: 50\r\ndata:\r\n\r\n"
    b'event: message\ndata: {"a":\ndata:  1}\n\n'
    b"id: 2\rdata: x\r\r"
    b"event: ping\n\n"
)
EVENTS = [Event(b"", "1", 50), Event(b'{"a":\n 1}'), Event(b"x", "2")]


@given(st.lists(st.integers(0, len(STREAM))))
def test_events_do_not_depend_on_how_the_bytes_arrive(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    splitter = Splitter()
    events = [e for a, b in pairwise(edges) for e in splitter.feed(STREAM[a:b])]
    assert events == EVENTS


@pytest.mark.parametrize("data", [b"{}", b'{"a":1}', b"one\ntwo"])
def test_what_is_framed_is_read_back_without_an_id(data: bytes) -> None:
    assert list(Splitter().feed(frame(data))) == [Event(data)]
