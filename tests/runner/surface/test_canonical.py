"""A catalogue against its snapshot: only meaning counts."""

from __future__ import annotations

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.surface.canonical import canonical_schema, drifted, same_capabilities

TOOL: JsonValue = {
    "name": "t",
    "inputSchema": {
        "type": ["string", "null"],
        "required": ["a", "b"],
        "properties": {"enum": {"enum": ["x", "y"]}, "required": {"type": "string"}},
        "allOf": [{"type": "object"}, {"minProperties": 1}],
    },
    "annotations": {"tags": ["p", "q"]},
}


@pytest.mark.parametrize(
    ("path", "value", "drift"),
    [
        (("inputSchema", "required"), ["b", "a"], False),
        (("inputSchema", "type"), ["null", "string"], False),
        (("inputSchema", "properties", "enum", "enum"), ["y", "x"], False),
        (("inputSchema", "required"), ["a"], True),
        (("inputSchema", "allOf"), [{"minProperties": 1}, {"type": "object"}], True),
        (("annotations", "tags"), ["q", "p"], True),
        (("description",), "new", True),
    ],
)
def test_order_counts_only_where_it_means_something(path: tuple[str, ...], value: JsonValue, drift: bool) -> None:
    assert drifted([TOOL], [_with(TOOL, path, value)]) == (("t",) if drift else ())


def test_added_removed_and_doubled_tools_are_named() -> None:
    other: JsonValue = {"name": "u"}
    assert drifted([TOOL], [TOOL, other]) == ("u",)
    assert drifted([TOOL, other], [TOOL]) == ("u",)
    assert drifted([TOOL], [TOOL, TOOL]) == ("t",)
    assert drifted([TOOL, TOOL], [TOOL, TOOL]) == ("t",)


def test_a_property_called_like_a_keyword_is_a_property() -> None:
    schema: JsonValue = {"properties": {"required": {"enum": [2, 1]}}, "default": {"required": ["b", "a"]}}
    assert canonical_schema(schema) == {
        "default": {"required": ["b", "a"]},
        "properties": {"required": {"enum": [1, 2]}},
    }


def test_capabilities_are_compared_as_values() -> None:
    assert same_capabilities({"a": 1, "b": {}}, {"b": {}, "a": 1})
    assert not same_capabilities({"a": [1, 2]}, {"a": [2, 1]})


def _with(value: JsonValue, path: tuple[str, ...], new: JsonValue) -> JsonValue:
    assert isinstance(value, dict)
    head, *rest = path
    return {**value, head: _with(value[head], tuple(rest), new) if rest else new}
