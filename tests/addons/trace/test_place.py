"""Lines of values in JSON text."""

import pytest

from flowproof_addons.trace.place import line_of

TEXT = """{
  "a": {"b": [1,
    {"c": "x\\"]}",
     "d": 2}]},

  "e": null
}"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("a",), 2),
        (("a", "b", 0), 2),
        (("a", "b", 1), 3),
        (("a", "b", 1, "c"), 3),
        (("a", "b", 1, "d"), 4),
        (("e",), 6),
        (("a", "b", 9), 2),
        (("a", "nothing", "x"), 2),
    ],
)
def test_a_place_is_found_or_as_much_of_it_as_is_there(path: tuple[str | int, ...], line: int) -> None:
    assert line_of(TEXT, path) == line
