"""JSON as its upstream laid it out."""

import json

import pytest

from flowproof_addons.trace.json_value import parse
from flowproof_addons.trace.layout import NAMES, name, write

VALUE = {"id": "é", "n": [1, 2.5, {"a": {}, "b": []}], "t": None, "e": ""}


@pytest.mark.parametrize("layout", NAMES)
def test_every_layout_is_known_again(layout: str) -> None:
    assert name(parse(write(parse('{"é":[1.00,{}]}'), layout)), write(parse('{"é":[1.00,{}]}'), layout)) == layout


@pytest.mark.parametrize("indent", [1, 2, 4])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_indented_layouts_are_the_usual_ones(indent: int, ascii_only: bool) -> None:
    source = json.dumps(VALUE, indent=indent, ensure_ascii=ascii_only)
    assert name(parse(source), source) == f"indent {indent}" + (" ascii" if ascii_only else "")


@pytest.mark.parametrize("source", ['{"a" :1}', '{"a":1}  ', '{"a":"\\/"}', '{\n\t"a": 1\n}'])
def test_another_layout_has_no_name(source: str) -> None:
    assert name(parse(source), source) is None
