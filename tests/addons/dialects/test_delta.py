import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.dialects import delta
from flowproof_addons.trace.model import JsonValue


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        pytest.param([{"text": "a"}, {"text": "b"}], {"text": "ab"}, id="texts grow"),
        pytest.param([{"role": "assistant"}, {"role": "assistant"}], {"role": "assistant"}, id="a repeat is none"),
        pytest.param([{"id": "call_1"}, {"id": ""}], {"id": "call_1"}, id="an empty repeat neither"),
        pytest.param([{"name": "get_"}, {"name": "time"}], {"name": "get_time"}, id="a name may come in pieces"),
        pytest.param([{"text": None}, {"text": "a"}, {"text": None}], {"text": "a"}, id="null hides nothing"),
        pytest.param([{"a": {"b": "x"}}, {"a": {"b": "y", "c": 1}}], {"a": {"b": "xy", "c": 1}}, id="objects merge"),
        pytest.param([{"expires_at": 1}, {"expires_at": 2}], {"expires_at": 2}, id="numbers are replaced"),
        pytest.param([{"a": [1]}, {"a": [2]}], {"a": [1, 2]}, id="lists grow"),
        pytest.param(
            [{"a": [{"index": 0, "text": "x"}]}, {"a": [{"index": 1, "text": "z"}, {"index": 0, "text": "y"}]}],
            {"a": [{"index": 0, "text": "xy"}, {"index": 1, "text": "z"}]},
            id="entries with an index are continued",
        ),
    ],
)
def test_fragments_are_folded(fragments: list[dict[str, JsonValue]], expected: JsonValue) -> None:
    whole: dict[str, JsonValue] = {}
    for fragment in fragments:
        delta.merge(whole, fragment)
    assert whole == expected


def test_folding_leaves_the_fragments_alone() -> None:
    fragments: list[dict[str, JsonValue]] = [{"a": [{"index": 0, "b": ["x"]}]}, {"a": [{"index": 0, "b": ["y"]}]}]
    whole: dict[str, JsonValue] = {}
    for fragment in fragments:
        delta.merge(whole, fragment)
    assert fragments == [{"a": [{"index": 0, "b": ["x"]}]}, {"a": [{"index": 0, "b": ["y"]}]}]


@given(st.text() | st.lists(st.sampled_from(["word", " ", "\n", "日本"]), max_size=400).map("".join))
def test_pieces_are_few_and_join_to_the_text(text: str) -> None:
    pieces = delta.pieces(text)
    assert "".join(pieces) == text
    assert len(pieces) <= 64 and all(pieces)
