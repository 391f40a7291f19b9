"""Frames are stored small and come back byte for byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.trace.frames import FramesError, pack, unpack
from flowproof_addons.trace.json_value import compact, parse
from flowproof_addons.trace.model import JsonValue


def chat(token: str) -> bytes:
    value = {"id": "c1", "choices": [{"index": 0, "delta": {"content": token}}], "usage": None}
    return b"data: " + json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"


def anthropic(token: str, pad: int) -> bytes:
    text = json.dumps(token)
    return (
        "event: content_block_delta\n"
        f'data: {{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{text}}}{" " * pad}}}\n\n'
    ).encode()


def responses(number: int, token: str) -> bytes:
    value = {"type": "response.output_text.delta", "sequence_number": number, "delta": token, "obfuscation": token * 2}
    return b"event: response.output_text.delta\ndata: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


@pytest.mark.parametrize(
    ("frames", "packed"),
    [
        (
            [chat("Hel"), chat("lo"), chat(' "ü"'), b"data: [DONE]\n\n"],
            [
                {"data": {"id": "c1", "choices": [{"index": 0, "delta": {"content": "Hel"}}], "usage": None}},
                {"at": "/choices/0/delta/content", "each": ["lo", ' "ü"']},
                "data: [DONE]\n\n",
            ],
        ),
        (
            [anthropic("a", 0), anthropic("b", 3), anthropic("c", 1)],
            [
                {
                    "event": "content_block_delta",
                    "data": {
                        "type": "content_block_delta",
                        "index": 0,
                        "delta": {"type": "text_delta", "text": "a"},
                    },
                },
                {"at": ["pad", "/delta/text"], "each": [[3, "b"], [1, "c"]]},
            ],
        ),
        (
            [responses(4, "a"), responses(5, "b"), responses(6, "c"), responses(9, "d")],
            [
                {
                    "event": "response.output_text.delta",
                    "data": {
                        "type": "response.output_text.delta",
                        "sequence_number": 4,
                        "delta": "a",
                        "obfuscation": "aa",
                    },
                },
                {
                    "at": ["/delta", "/obfuscation"],
                    "each": [["b", "bb"], ["c", "cc"]],
                    "counts": ["/sequence_number"],
                },
                {"at": ["/sequence_number", "/delta", "/obfuscation"], "each": [[9, "d", "dd"]]},
            ],
        ),
        (
            [b'{"response":"a","done":false}\n', b'{"response":"b","done":false}\n'],
            [{"line": {"response": "a", "done": False}}, {"at": "/response", "each": ["b"]}],
        ),
        ([b'data: {"a": "\\u00e9"}\r\n\r\n'], [{"style": "spaced ascii", "newline": "\r\n", "data": {"a": "é"}}]),
        ([b": ping\n\n", b"\xff\x00", b'data:{"a":1}\n\n'], [": ping\n\n", {"base64": "/wA="}, 'data:{"a":1}\n\n']),
        (
            [b'data: {"n":1}\n\n', b'data: {"n":2}\n\n', b'data: {"n":3.0}\n\n', b'data: {"n":true}\n\n'],
            [{"data": {"n": 1}}, {"at": [], "each": [[]], "counts": ["/n"]}, {"at": "/n", "each": [3.0, True]}],
        ),
        ([], []),
    ],
)
def test_the_stored_form(frames: list[bytes], packed: JsonValue) -> None:
    assert pack(frames) == packed
    assert unpack(packed) == tuple(frames)


payloads: st.SearchStrategy[JsonValue] = st.recursive(
    st.sampled_from([None, True, 1, 2, 3, 1.5, "", "a", "b", 'q"\\', "é", "\ud800", "\x01"]),
    lambda child: st.lists(child, max_size=2) | st.dictionaries(st.sampled_from("ab"), child, max_size=2),
    max_leaves=5,
)
layouts = st.sampled_from(
    ["data: {}\n\n", "event: x\ndata: {}\n\n", "{}\n", "data: {}\r\n\r\n", "data:{}\n\n", "id: 1\ndata: {}\n\n", "{}"]
)
frame_bytes = (
    st.tuples(layouts, payloads, st.booleans()).map(
        lambda made: made[0].replace("{}", json.dumps(made[1]) if made[2] else compact(made[1])).encode()
    )
    | st.binary(max_size=6)
    | st.builds(anthropic, st.sampled_from(["a", "b"]), st.integers(0, 2))
    | st.builds(responses, st.integers(0, 3), st.sampled_from(["a", "b"]))
    | st.builds(chat, st.sampled_from(["a", "", "é"]))
)


@given(st.lists(frame_bytes, max_size=12), st.sampled_from([None, "", "aabb", {"t": ["abab", "é" * 9]}]))
def test_any_frames_come_back_byte_for_byte_beside_any_reply(frames: list[bytes], body: JsonValue) -> None:
    packed = pack(frames, body)
    assert unpack(parse(compact(packed)), body) == tuple(frames)


WORDS = ["Hel", "lo", ", ", 'w"ör', "ld", "", " and much more", "."]
REPLY: JsonValue = {"id": "c1", "choices": [{"message": {"content": "".join(WORDS)}}]}


def test_texts_that_the_reply_says_are_stored_as_where_it_was_cut() -> None:
    frames = [chat(word) for word in WORDS]
    packed = pack(frames, REPLY)
    cut = {"at": "/choices/0/delta/content", "of": "/choices/0/message/content", "from": 3, "lengths": "22420(14)1"}
    assert isinstance(packed, list)
    assert packed[1:] == [{"cuts": [cut]}]
    assert unpack(packed, REPLY) == tuple(frames)


def test_texts_that_the_reply_does_not_say_stand_in_one_text() -> None:
    """Random padding, beside what the reply does say and a number that counts."""
    frames = [responses(number, word) for number, word in enumerate("abcde")]
    packed = pack(frames, {"output": "abcde"})
    assert isinstance(packed, list)
    said: JsonValue = {"at": "/delta", "of": "/output", "from": 1, "lengths": "1111"}
    padding: JsonValue = {"at": "/obfuscation", "text": "bbccddee", "lengths": "2222"}
    assert packed[1:] == [{"cuts": [said, padding], "counts": ["/sequence_number"]}]
    assert unpack(packed, {"output": "abcde"}) == tuple(frames)


def test_halves_of_one_letter_are_kept_apart() -> None:
    frames = [chat(half) for half in ("a", "b", "c")]
    frames += [frame.replace(b'"c"', rb'"\ud83c"') for frame in frames[2:]] + [
        frame.replace(b'"c"', rb'"\udf27"') for frame in frames[2:]
    ]
    assert unpack(parse(compact(pack(frames, "abc🌧"))), "abc🌧") == tuple(frames)


def test_another_reply_than_the_one_that_was_streamed_is_refused() -> None:
    packed = pack([chat(word) for word in WORDS], REPLY)
    others: list[JsonValue] = [None, {"choices": [{"message": {"content": "short"}}]}, {"choices": [{"message": 7}]}]
    for other in others:
        with pytest.raises(FramesError, match="does not fit the reply"):
            unpack(packed, other)


def test_tokens_cost_little_more_than_their_text() -> None:
    tokens = [f"token{number} " for number in range(1000)]
    assert len(compact(pack([chat(token) for token in tokens]))) < 1.5 * len("".join(tokens))


@pytest.mark.parametrize(
    ("packed", "complaint"),
    [
        ({}, "frames must be a list"),
        ([1], "a frame must be text"),
        ([{"data": 1, "line": 2}], "a frame must be text"),
        ([{"at": "/a", "each": ["x"]}], "a run of frames must follow a whole frame"),
        (["text", {"at": "/a", "each": ["x"]}], "a run of frames must follow a whole frame"),
        ([{"data": {"a": 1}}, {"at": "/b", "each": ["x"]}], "does not fit the frame before it: nothing stands at 'b'"),
        ([{"data": {"a": 1}}, {"at": "b", "each": ["x"]}], "is not a JSON pointer"),
        ([{"data": {"a": 1}}, {"at": 3, "each": ["x"]}], "must be JSON pointers"),
        ([{"data": {"a": 1}}, {"at": "/a", "each": "x"}], "needs the lists"),
        ([{"data": {"a": 1}}, {"at": "/a", "each": [{}]}], "must be text, a number"),
        ([{"data": {"a": 1}}, {"at": ["/a"], "each": [[1, 2]]}], "must hold 1 values"),
        ([{"data": {"a": 1}}, {"at": ["/a", "/a"], "each": [[1, 2]]}], "names one leaf twice"),
        ([{"data": {"a": "x"}}, {"at": [], "each": [[]], "counts": ["/a"]}], "whole numbers"),
        ([{"data": {"a": 1}}, {"at": "pad", "each": ["x"]}], "`pad` must be a whole number"),
        ([{"data": 1, "event": 2}], "`event` of a frame must be text"),
        ([{"data": 1, "style": "fancy"}], "`style` one of compact"),
        ([{"data": 1, "newline": "x"}], "`newline` of a frame must be"),
        ([{"base64": "%"}], "`base64` of a frame"),
        ([{"data": {"a": "x"}}, {"cuts": 1}], "needs the lists"),
        ([{"data": {"a": "x"}}, {"cuts": []}], "must tell of as many frames"),
        ([{"data": {"a": "x"}}, {"cuts": [1]}], "must be an object"),
        ([{"data": {"a": "x"}}, {"cuts": [{"at": "/a", "text": "x"}]}], "a cut needs `at` and `lengths`"),
        ([{"data": {"a": "x"}}, {"cuts": [{"at": "/a", "lengths": "1(", "text": "x"}]}], "a cut needs `at` and"),
        ([{"data": {"a": "x"}}, {"cuts": [{"at": "/a", "lengths": "1"}]}], "a cut needs `text`, or `of`"),
        ([{"data": {"a": "x"}}, {"cuts": [{"at": "/a", "lengths": "1", "of": "a", "from": -1}]}], "a whole number"),
        ([{"data": {"a": "x"}}, {"cuts": [{"at": "/a", "lengths": "2", "text": "x"}]}], "needs a longer text"),
        ([{"data": {"a": "x"}}, {"cuts": [{"at": "/b", "lengths": "1", "text": "x"}]}], "does not fit the frame"),
        (
            [
                {"data": {"a": "x", "b": 1}},
                {"at": "/b", "each": [1, 2], "cuts": [{"at": "/a", "text": "x", "lengths": "1"}]},
            ],
            "must tell of as many frames",
        ),
    ],
)
def test_another_shape_is_refused(packed: JsonValue, complaint: str) -> None:
    with pytest.raises(FramesError, match=complaint.replace("(", r"\(")):
        unpack(packed)
