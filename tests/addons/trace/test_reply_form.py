"""A reply is stored as what it has that the reply before it had not; its frames too, byte for byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.trace import reply_form
from flowproof_addons.trace.json_value import compact, parse
from flowproof_addons.trace.model import JsonBody, JsonValue, Reply
from flowproof_addons.trace.reply_form import Kept
from flowproof_addons.trace.shape import Node, ShapeError

HEADERS = {"content-type": "text/event-stream"}


def streamed(number: int, *words: str, turned: bool = False) -> Reply:
    """A reply as Anthropic streams it; `turned`: with the members of its first event in another order."""
    start: dict[str, object] = {
        "type": "message_start",
        "id": f"msg_{number}",
        "usage": {"input": 472, "service_tier": "standard"},
    }
    events: list[dict[str, object]] = [dict(reversed(start.items())) if turned else start]
    events += [{"type": "content_block_delta", "index": 0, "delta": {"text": word}} for word in words]
    events += [{"type": "message_delta", "usage": {"output": len(words)}}, {"type": "message_stop"}]
    frames = tuple(f"event: {e['type']}\ndata: {json.dumps(e, separators=(',', ':'))}\n\n".encode() for e in events)
    return Reply(200, JsonBody({"id": f"msg_{number}", "text": "".join(words)}), HEADERS, frames)


def stored(*replies: Reply) -> list[JsonValue]:
    """Each as what it adds to the one before it."""
    before: Kept | None = None
    entries: list[JsonValue] = []
    for reply in replies:
        entry, before = reply_form.write(reply, before)
        entries.append(parse(compact(entry)))
    return entries


def read(entries: list[JsonValue]) -> list[Reply]:
    before: Kept | None = None
    found = []
    for entry in entries:
        before = reply_form.read(Node(entry), before)
        found.append(before.reply)
    return found


def test_frames_like_those_before_are_stored_as_what_differs() -> None:
    first, second = streamed(1, *"a few words here".split()), streamed(2, *"not the same but more".split())
    entries = stored(first, second)
    assert isinstance(entries[1], dict)
    assert entries[1]["frames"] == {
        "patch": [
            {"op": "replace", "path": "/0/data/id", "value": "msg_2"},
            {"op": "replace", "path": "/1/data/delta/text", "value": "not"},
            {"op": "replace", "path": "/2/cuts/0/from", "value": 3},
            {"op": "replace", "path": "/2/cuts/0/lengths", "value": "3434"},
            {"op": "replace", "path": "/3/data/usage/output", "value": 5},
        ]
    }
    assert read(entries) == [first, second]


def test_the_order_of_members_is_kept_although_a_patch_knows_none() -> None:
    replies = [streamed(1, "a", "b"), streamed(1, "a", "b", turned=True)]
    assert read(stored(*replies)) == replies


words = st.lists(st.sampled_from(["a", "", "ü", "more words", "a", '"']), max_size=6)
replies = st.builds(
    lambda number, words, turned, whole: (
        streamed(number, *words, turned=turned) if whole else Reply(200, JsonBody(1), HEADERS)
    ),
    st.integers(0, 2),
    words,
    st.booleans(),
    st.booleans(),
)


@given(st.lists(replies, max_size=5))
def test_any_conversation_comes_back_byte_for_byte(conversation: list[Reply]) -> None:
    assert read(stored(*conversation)) == conversation


@pytest.mark.parametrize(
    ("frames", "complaint"),
    [
        ({"patch": []}, "frames: there are no earlier frames to patch"),
        ({}, "frames: frames must be a list"),
    ],
)
def test_frames_that_continue_nothing_are_refused(frames: JsonValue, complaint: str) -> None:
    with pytest.raises(ShapeError, match=complaint):
        reply_form.read(Node({"status": 200, "body": {"text": ""}, "frames": frames}), None)


def test_a_patch_that_does_not_fit_is_refused() -> None:
    first, second = stored(streamed(1, "a"), streamed(2, "b"))
    assert isinstance(second, dict)
    second["frames"] = {"patch": [{"op": "remove", "path": "/99"}]}
    with pytest.raises(ShapeError, match=r"frames\.patch: operation 0"):
        read([first, second])
