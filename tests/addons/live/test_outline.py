import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.live.outline import entry, outline, scalar
from flowproof_addons.trace.model import JsonValue


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("NBO", "NBO"),
        ("Ada Lovelace", "Ada Lovelace"),
        ("/etc/hosts", "/etc/hosts"),
        ("", '""'),
        ("7", '"7"'),
        ("2026-12-03", '"2026-12-03"'),
        ("true", '"true"'),
        ("No", '"No"'),
        ("a: b", '"a: b"'),
        ("ends:", '"ends:"'),
        ("with # hash", '"with # hash"'),
        (" padded ", '" padded "'),
        (7, "7"),
        (1.5, "1.5"),
        (None, "null"),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_a_text_that_could_be_taken_for_something_else_is_quoted(value: JsonValue, shown: str) -> None:
    assert scalar(value) == shown


def test_values_are_laid_out_by_depth() -> None:
    value: JsonValue = {"a": {"b": [1, {"c": "x", "d": [2]}, "line one\nline two"]}, "e": "t\nu", "f": []}
    assert "\n".join(outline(value)) == (
        "a:\n  b:\n    - 1\n    - c: x\n      d:\n        - 2\n    - |\n      line one\n      line two\n"
        "e: |\n  t\n  u\nf: []"
    )


def test_a_remark_stands_behind_the_name_on_one_line() -> None:
    assert list(entry("read", {"path": "x"}, remark="call\n1")) == ["read:  # call 1", "  path: x"]
    assert list(entry("read", "x", remark="")) == ["read: x"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_nothing_in_a_value_can_stand_where_a_name_of_ours_stands(value: JsonValue) -> None:
    first, *rest = entry("call", value)
    assert first.startswith("call:")
    assert all(line.startswith("  ") or not line for line in rest)
