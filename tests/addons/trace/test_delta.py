"""Patches are small, standard, and share what did not change."""

import copy

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.trace.delta import PatchError, apply, difference, only_adds
from flowproof_addons.trace.json_value import Number, compact, same
from flowproof_addons.trace.model import JsonValue

keys = st.text("ab~/-01", max_size=2)
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 0.0, 1.0, -0.0, Number("1.00"), "", "a", "b"]),
    lambda child: st.lists(child, max_size=5) | st.dictionaries(keys, child, max_size=4),
    max_leaves=20,
)


@given(values, values)
def test_a_patch_makes_the_one_into_the_other(old: JsonValue, new: JsonValue) -> None:
    before = copy.deepcopy(old)
    patch = difference(old, new)
    assert same(apply(old, patch), new)
    assert same(old, before)


@given(values, values)
def test_any_rfc_6902_library_can_apply_it(old: JsonValue, new: JsonValue) -> None:
    operations = [operation for operation in difference(old, new) if isinstance(operation, dict)]
    assert same(jsonpatch.apply_patch(copy.deepcopy(old), operations), new)


@given(values, values)
def test_the_patch_of_a_patched_value_is_the_same_patch(old: JsonValue, new: JsonValue) -> None:
    patch = difference(old, new)
    assert compact(difference(old, apply(old, patch))) == compact(patch)


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        (
            {"m": [1]},
            {"m": [1, 2, 3]},
            [{"op": "add", "path": "/m/-", "value": 2}, {"op": "add", "path": "/m/-", "value": 3}],
        ),
        ({"m": [1, 3]}, {"m": [1, 2, 3]}, [{"op": "add", "path": "/m/1", "value": 2}]),
        ({"m": [1, 2, 3]}, {"m": [1]}, [{"op": "remove", "path": "/m/1"}, {"op": "remove", "path": "/m/1"}]),
        ({"a": 1, "b": 2}, {"b": 2, "c": 3}, [{"op": "remove", "path": "/a"}, {"op": "add", "path": "/c", "value": 3}]),
        ({"a/b": {"~": 1}}, {"a/b": {"~": 1.0}}, [{"op": "replace", "path": "/a~1b/~0", "value": 1.0}]),
        (
            {"m": [{"c": "x", "cache_control": {}}]},
            {"m": [{"c": "x"}, {"c": "y", "cache_control": {}}]},
            [
                {"op": "remove", "path": "/m/0/cache_control"},
                {"op": "add", "path": "/m/-", "value": {"c": "y", "cache_control": {}}},
            ],
        ),
        ([1], {"a": 1}, [{"op": "replace", "path": "", "value": {"a": 1}}]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
    ],
)
def test_patches_say_what_happened(old: JsonValue, new: JsonValue, patch: JsonValue) -> None:
    assert difference(old, new) == patch


def test_what_did_not_change_is_shared() -> None:
    old: JsonValue = {"tools": [{"name": "t"}], "messages": [{"c": "1"}, {"c": "2"}]}
    new = apply(old, [{"op": "add", "path": "/messages/-", "value": {"c": "3"}}])
    assert isinstance(old, dict) and isinstance(new, dict)
    assert new["tools"] is old["tools"]
    old_messages, new_messages = old["messages"], new["messages"]
    assert isinstance(old_messages, list) and isinstance(new_messages, list)
    assert all(one is other for one, other in zip(old_messages, new_messages, strict=False))
    assert len(old_messages) == 2


def test_a_conversation_that_only_grew_is_known() -> None:
    assert only_adds(difference({"m": [1]}, {"m": [1, 2], "n": 1}))
    assert not only_adds(difference({"m": [1, 2]}, {"m": [1]}))
    assert not only_adds(difference({"m": 1}, {"m": 2}))


@pytest.mark.parametrize(
    ("patch", "complaint"),
    [
        ({}, "a patch must be a list"),
        ([1], "operation 0 of the patch does not fit: an operation must be an object with a `path`"),
        ([{"op": "add", "path": 1}], "an object with a `path`"),
        ([{"op": "add", "path": "/a"}], "'add' is not an operation with all it needs"),
        ([{"op": "move", "path": "/a", "from": "/b"}], "'move' is not an operation"),
        ([{"op": "remove", "path": ""}], "'remove' is not an operation"),
        ([{"op": "add", "path": "a", "value": 1}], "is not a JSON pointer"),
        ([{"op": "remove", "path": "/x"}], "nothing stands at 'x'"),
        ([{"op": "replace", "path": "/m/5", "value": 1}], "nothing stands at '5'"),
        ([{"op": "replace", "path": "/m/-1", "value": 1}], "nothing stands at '-1'"),
        ([{"op": "add", "path": "/m/3", "value": 1}], "nothing stands at '3'"),
        ([{"op": "add", "path": "/m/0/x", "value": 1}], "the path leads through a plain value"),
        ([{"op": "add", "path": "/m/-", "value": 1}, {"op": "remove", "path": "/m/9"}], "operation 1"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch: JsonValue, complaint: str) -> None:
    with pytest.raises(PatchError) as error:
        apply({"m": [1]}, patch)
    assert complaint in str(error.value)
