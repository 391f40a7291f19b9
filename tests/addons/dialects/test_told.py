import pytest

from flowproof_addons.dialects import told
from flowproof_addons.trace.model import JsonValue


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("plain words", "plain words"),
        ("", ""),
        (None, None),
        ([{"type": "text", "text": '{"a": 1}'}], {"a": 1}),
        ([{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}], "x"),
        (
            [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}],
            [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}],
        ),
        ([{"type": "image", "source": {}}], [{"type": "image", "source": {}}]),
    ],
)
def test_a_result_is_read_as_json_where_it_is_json(content: JsonValue, expected: JsonValue) -> None:
    assert told.read(content) == expected


def test_neighbours_are_a_group_and_a_gap_ends_it() -> None:
    paths = [("messages", index) for index in (1, 2, 4, 6, 7, 8)]
    assert told.groups(paths) == (
        (("messages", 1), ("messages", 2)),
        (("messages", 6), ("messages", 7), ("messages", 8)),
    )
