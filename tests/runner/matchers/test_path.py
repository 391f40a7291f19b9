"""Dotted paths find what they name and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.matchers.path import MISSING, Path, PathError, parse

VALUE: JsonValue = {
    "flight": {"id": "KQ311", "null": None},
    "passengers": [{"name": "Casey"}, {"name": "Robin"}],
    "0": "zero",
    "x.y": {"a b": 1},
    "": "empty",
    "-1": "minus",
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("flight.id", "KQ311"),
        ("flight.null", None),
        ("passengers.1.name", "Robin"),
        ("0", "zero"),
        ('"0"', "zero"),
        ('"x.y"."a b"', 1),
        ('""', "empty"),
        ('"-1"', "minus"),
        ("flight.number", MISSING),
        ("passengers.2.name", MISSING),
        ('passengers."0".name', MISSING),  # a quoted segment is a key
        ("passengers.00.name", MISSING),
        ("passengers.name", MISSING),
        ("flight.id.0", MISSING),  # a string is not an array
        ("passengers.length", MISSING),
    ],
)
def test_lookup(text: str, found: object) -> None:
    assert parse(text).lookup(VALUE) == found


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("", 0, "missing"),
        ("a.", 2, "missing"),
        (".a", 0, "missing"),
        ("a..b", 2, "missing"),
        ('a."b', 2, "never closed"),
        ('"a"b', 3, "expected '.'"),
        ('a"b"', 1, "whole segment"),
        ("a b", 1, "no blanks"),
        ("items[0].name", 0, "items.0.name"),
        ("items.-1", 6, "counts from 0"),
        ("items.*", 6, "means nothing"),
    ],
)
def test_unreadable_paths_say_where(text: str, column: int, says: str) -> None:
    with pytest.raises(PathError) as caught:
        parse(text)
    assert (caught.value.column, says in str(caught.value)) == (column, True)


segments = st.one_of(st.text(max_size=8), st.integers(min_value=0, max_value=999_999_999))


@given(st.lists(segments, min_size=1, max_size=5))
def test_a_path_reads_back_from_its_own_text(parts: list[str | int]) -> None:
    path = Path(tuple(parts))
    assert parse(str(path)) == path


def test_the_empty_path_is_the_value_itself() -> None:
    assert Path().lookup({"a": 1}) == {"a": 1}
