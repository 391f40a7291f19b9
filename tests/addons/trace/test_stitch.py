"""A text in pieces is one text."""

import json

from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.stitch import Edit, Edits, apply, rewrite, streams


def frame(value: JsonValue) -> bytes:
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


def find(word: str, new: str) -> Edits:
    def edits(text: str) -> list[Edit]:
        at = text.find(word)
        return [Edit(at, at + len(word), new)] if at >= 0 else []

    return edits


def test_edits_are_made_from_the_back() -> None:
    assert apply("abcdef", [Edit(0, 1, "XX"), Edit(2, 4, ""), Edit(5, 5, "!")]) == "XXbe!f"


def test_parallel_calls_are_kept_apart_by_their_index() -> None:
    def delta(index: int, text: str) -> bytes:
        return frame({"choices": [{"delta": {"tool_calls": [{"index": index, "function": {"arguments": text}}]}}]})

    told = [delta(0, "sec"), delta(1, "ret"), delta(0, "ret"), delta(1, "sec")]
    assert set(streams(told)) == {"secret", "retsec"}


def test_blocks_of_two_kinds_are_kept_apart() -> None:
    told = [
        frame({"type": "content_block_delta", "index": 0, "delta": {"text": "sec"}}),
        frame({"type": "content_block_delta", "index": 1, "delta": {"text": "ret"}}),
    ]
    assert "secret" not in "|".join(streams(told))


def test_signatures_are_not_part_of_any_stream() -> None:
    assert streams([frame({"delta": {"signature": "abc", "text": "x"}})]) == ["x"]


def test_frames_that_are_no_json_are_one_text() -> None:
    assert streams([b"sec", b"ret"]) == ["secret"]


@given(st.lists(st.text("abc", max_size=4), min_size=1, max_size=8), st.text("abc", min_size=1, max_size=5))
def test_a_replacement_is_the_one_made_in_the_whole_text(pieces: list[str], word: str) -> None:
    edits = find(word, "<>")
    rewritten = rewrite([frame({"d": piece}) for piece in pieces], edits)
    assert streams(rewritten) == ["".join(pieces).replace(word, "<>", 1)]
