"""JSON pointers."""

import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pointer import get, pointer, put, split

VALUE: JsonValue = {"a/b": [{"~": 1}], "0": {"": 2}}


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [((), "", VALUE), (("a/b", 0, "~"), "/a~1b/0/~0", 1), (("0", ""), "/0/", 2)],
)
def test_a_pointer_leads_there(path: tuple[str | int, ...], text: str, found: JsonValue) -> None:
    assert pointer(path) == text
    assert get(VALUE, path) == found
    assert get(VALUE, split(text)) == found


@pytest.mark.parametrize("path", [("x",), ("a/b", 1), ("a/b", -1), ("a/b", "00"), ("a/b", "-"), ("a/b", 0, "~", "x")])
def test_a_path_to_nothing_is_an_error(path: tuple[str | int, ...]) -> None:
    with pytest.raises(LookupError):
        get(VALUE, path)
    with pytest.raises(LookupError):
        put(VALUE, path, 1)


def test_put_copies_only_along_the_path() -> None:
    new = put(VALUE, ("a/b", 0, "~"), 9)
    assert new == {"a/b": [{"~": 9}], "0": {"": 2}}
    assert isinstance(new, dict) and isinstance(VALUE, dict)
    assert new["0"] is VALUE["0"]
    assert get(VALUE, ("a/b", 0, "~")) == 1
