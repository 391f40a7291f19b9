"""JSON is read without loss, and only what is JSON is read."""

import copy
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.trace.json_value import MAX_DEPTH, JsonError, Number, compact, has_literals, parse, same, size
from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pretty import pretty

json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["1.00", "-0", "1e5", "1E+2", "-0.0", "1e999"]).map(Number)
    | st.text(st.characters(codec="utf-8")),
    lambda child: st.lists(child, max_size=4) | st.dictionaries(st.text(max_size=4), child, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_what_is_dumped_reads_back_the_same(value: JsonValue) -> None:
    assert same(parse(compact(value)), value)


@given(json_values)
def test_the_layout_for_people_says_the_same(value: JsonValue) -> None:
    assert same(parse(pretty(value)), value)


@pytest.mark.parametrize(
    "literal",
    ["1", "1.0", "1.00", "1e0", "1E0", "1e+0", "-0", "-0.0", "0.1", "1e999", "12345678901234567890123", "9" * 5000],
)
def test_a_number_keeps_the_way_it_was_written(literal: str) -> None:
    assert compact(parse(f'{{"a":[{literal}]}}')) == f'{{"a":[{literal}]}}'


def test_a_plain_number_is_a_plain_int_or_float() -> None:
    assert [type(item) for item in (parse("1"), parse("1.5"), parse("1e-05"))] == [int, float, float]


def test_an_odd_number_still_counts_as_its_value() -> None:
    number = parse("1.00")
    assert (number, repr(number)) == (1.0, "1.00")


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copied_number_keeps_its_literal(clone: Callable[[JsonValue], JsonValue]) -> None:
    assert compact(clone([Number("1.00")])) == "[1.00]"


@pytest.mark.parametrize(
    ("left", "right"),
    [("1", "1.0"), ("1.0", "1.00"), ("1", "true"), ("0", "false"), ("0.0", "-0.0"), ("null", '""'), ("[]", "{}")],
)
def test_what_python_takes_for_equal_may_differ(left: str, right: str) -> None:
    assert not same(parse(left), parse(right))
    assert not same(parse(f'{{"a":[{left}]}}'), parse(f'{{"a":[{right}]}}'))


def test_the_order_of_keys_does_not_count_that_of_lists_does() -> None:
    assert same(parse('{"a":1,"b":[{"c":2,"d":1.00}]}'), parse('{"b":[{"d":1.00,"c":2}],"a":1}'))
    assert not same(parse("[1,2]"), parse("[2,1]"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"model":1,"a":{"x":1},"model":2}', "the key 'model' stands twice in one object"),
        ("NaN", "NaN is not JSON"),
        ("[Infinity]", "Infinity is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("", "a value is missing at line 1, column 1"),
        ('{"a":', "a value is missing at line 1, column 6"),
        ("{a: 1}", "a key in double quotes is missing at line 1, column 2"),
        ("[1]\n[2]", "there is text after the end of the JSON at line 2, column 1"),
        ("[" * 100_000, f"nested deeper than {MAX_DEPTH} levels"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH} levels"),
        ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH} levels"),
        (b'{"a":"\xff"}', "not UTF-8: byte 0xff at offset 6"),
        (b"\xef\xbb\xbf{}", "starts with a byte order mark at line 1, column 1"),
    ],
)
def test_what_is_no_json_is_refused_with_the_reason(text: str | bytes, complaint: str) -> None:
    with pytest.raises(JsonError) as error:
        parse(text)
    assert str(error.value) == complaint


def test_the_deepest_nesting_allowed_is_read() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert compact(parse(text)) == text


def test_half_a_surrogate_pair_survives() -> None:
    value = parse('{"a":"x\\ud800y","b":"é"}')
    assert value == {"a": "x\ud800y", "b": "é"}
    assert same(parse(compact(value).encode()), value)
    assert same(parse(pretty(value).encode()), value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [1, float("-inf")]])
def test_a_float_that_json_cannot_say_is_not_written(value: JsonValue) -> None:
    with pytest.raises(ValueError):
        compact(value)


def test_a_literal_is_found_however_deep() -> None:
    assert has_literals({"a": [{"b": Number("1.00")}]})
    assert not has_literals({"a": [{"b": 1.0, "c": 10**30, "d": "\ud800"}]})


@given(json_values)
def test_one_line_layouts_say_the_same_with_or_without_literals(value: JsonValue) -> None:
    for spaced in (False, True):
        for ascii_only in (False, True):
            plain = compact(value, spaced, ascii_only)
            assert same(parse(plain), value)
            marked = compact([Number("1.00"), value], spaced, ascii_only)
            assert marked == "[1.00" + (", " if spaced else ",") + plain + "]"


def test_the_size_does_not_depend_on_the_order_of_keys() -> None:
    assert size({"a": 1, "b": [Number("1.00")]}) == size({"b": [Number("1.00")], "a": 1})
    assert size({"a": 1, "b": ["x"]}) == size({"b": ["x"], "a": 1})
