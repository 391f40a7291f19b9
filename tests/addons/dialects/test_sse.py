from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.dialects import sse
from flowproof_addons.dialects.base import StreamEvent


@pytest.mark.parametrize(
    ("stream", "frames"),
    [
        pytest.param(b"", (), id="nothing"),
        pytest.param(b"data: a\n\ndata: b\n\n", (b"data: a\n\n", b"data: b\n\n"), id="lf"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\n\r\n", (b"data: a\r\n\r\n", b"data: b\r\n\r\n"), id="crlf"),
        pytest.param(b"data: a\r\rdata: b\r\r", (b"data: a\r\r", b"data: b\r\r"), id="cr"),
        pytest.param(b"data: a\r\n\ndata: b\n\n", (b"data: a\r\n\n", b"data: b\n\n"), id="mixed"),
        pytest.param(b": ping\n\ndata: a\n\n", (b": ping\n\n", b"data: a\n\n"), id="a comment is a frame"),
        pytest.param(b"data: a\n\ndata: b\n", (b"data: a\n\n", b"data: b\n"), id="an unfinished frame is kept"),
        pytest.param(b"data: a\n\n\n\n", (b"data: a\n\n", b"\n", b"\n"), id="further empty lines"),
        pytest.param("data: 🌧\u2028x\n\n".encode(), ("data: 🌧\u2028x\n\n".encode(),), id="only CR and LF end a line"),
    ],
)
def test_a_frame_ends_with_an_empty_line(stream: bytes, frames: Sequence[bytes]) -> None:
    assert sse.split(stream) == frames


@given(st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"data: x", b": c", b"\xf0\x9f", b"event: e"])).map(b"".join))
def test_no_byte_of_a_stream_is_lost(stream: bytes) -> None:
    assert b"".join(sse.split(stream)) == stream


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        pytest.param(b"data: a\n\n", StreamEvent("a"), id="data"),
        pytest.param(b"data:a\n\n", StreamEvent("a"), id="without a space"),
        pytest.param(b"data:  a\n\n", StreamEvent(" a"), id="one space goes, one stays"),
        pytest.param(b"event: e\r\ndata: a\r\n\r\n", StreamEvent("a", "e"), id="event"),
        pytest.param(b"data: a\ndata: b\ndata\n\n", StreamEvent("a\nb\n"), id="data lines are joined"),
        pytest.param(b"id: 1\nretry: 5\nodd: x\ndata: a\n\n", StreamEvent("a"), id="other fields"),
        pytest.param("\ufeffdata: a\n\n".encode(), StreamEvent("a"), id="a byte order mark"),
        pytest.param(b": ping\n\n", None, id="a comment"),
        pytest.param(b"event: e\n\n", None, id="no data"),
        pytest.param(b"\n", None, id="an empty line"),
    ],
)
def test_a_frame_is_read_as_the_standard_says(frame: bytes, event: StreamEvent | None) -> None:
    assert sse.parse(frame) == event


LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))
NAMES = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1)


@given(st.lists(st.builds(StreamEvent, LINES, NAMES)))
def test_what_is_rendered_reads_the_same(events: list[StreamEvent]) -> None:
    frames = sse.split(b"".join(sse.render(event) for event in events))
    assert [sse.parse(frame) for frame in frames] == events
