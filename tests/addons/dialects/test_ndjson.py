from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.dialects import ndjson
from flowproof_addons.dialects.base import StreamEvent


@given(st.lists(st.sampled_from([b"\n", b"\r\n", b'{"a":1}', b"\xf0"])).map(b"".join))
def test_no_byte_of_a_stream_is_lost(stream: bytes) -> None:
    assert b"".join(ndjson.split(stream)) == stream


def test_every_line_is_a_frame_the_unfinished_one_too() -> None:
    assert ndjson.split(b'{"a":1}\n\n{"b"') == (b'{"a":1}\n', b"\n", b'{"b"')


def test_a_blank_line_says_nothing() -> None:
    assert ndjson.parse(b" \r\n") is None


def test_what_is_rendered_reads_the_same() -> None:
    event = StreamEvent('{"text":"é\\n"}')
    assert ndjson.parse(ndjson.render(event)) == event
