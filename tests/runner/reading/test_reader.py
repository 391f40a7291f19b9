"""YAML is read as the author sees it, with places; what no spec needs is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_runner.reading.document import Place
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.reading.reader import read
from flowproof_runner.reading.scalars import Scalar, ScalarError, plain, value


def refused(text: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        read(text, "f")
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("on", "on"),
        ("no", "no"),
        ("yes", "yes"),
        ("Off", "Off"),
        ("2026-01-01", "2026-01-01"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("0b11", "0b11"),
        ("1.2.3", "1.2.3"),
        ("nan", "nan"),
        ("0xyz", "0xyz"),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("5", 5),
        ("-5", -5),
        ("1.10", 1.1),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("0x1F", 31),
        ("0o17", 15),
        ("12345678901234567890123", 12345678901234567890123),
    ],
)
def test_bare_scalars_follow_yaml_1_2(text: str, means: object) -> None:
    found = plain(text)
    assert (found.value if isinstance(found, Scalar) else found) == means
    assert not isinstance(found, Scalar) or found.text == text


@pytest.mark.parametrize("text", ["007", "-01", ".inf", "-.INF", ".nan", "1e999", "9" * 5000])
def test_scalars_that_readers_disagree_about_are_refused(text: str) -> None:
    with pytest.raises(ScalarError, match="quotes"):
        plain(text)


def test_keys_stay_the_text_that_was_written() -> None:
    root = read("on: 1\nyes: 2\n5: 3\n2026-01-01: 4\nnull: 5\n", "f").root
    assert value(root) == {"on": 1, "yes": 2, "5": 3, "2026-01-01": 4, "null": 5}


def test_every_key_and_value_knows_its_place() -> None:
    document = read("a:\n  - b: x\n    'c d': \"y\"\n  - [1, {z: 2}]\n", "f")
    assert document.keys == {
        ("a",): Place(1, 1),
        ("a", 0, "b"): Place(2, 5),
        ("a", 0, "c d"): Place(3, 5),
        ("a", 1, 1, "z"): Place(4, 10),
    }
    assert document.values[("a", 0, "c d")] == Place(3, 12)
    assert document.values[("a", 1, 1, "z")] == Place(4, 13)
    assert document.verbatim[("a", 0, "c d")] == Place(3, 13)
    assert document.where(("a", 0, "c d", "not", "there")) == "f:3"


def test_a_text_that_is_escaped_or_folded_has_no_columns_of_its_own() -> None:
    document = read("a: \"\\u0041b\"\nb: >-\n  x\n  y\nc: 'it''s'\nd: é b\n", "f")
    assert list(document.verbatim) == [("d",)]


def test_aliases_are_expanded() -> None:
    assert value(read("a: &x {k: [1]}\nb: *x\nc: [*x, *x]\n", "f").root) == {
        "a": {"k": [1]},
        "b": {"k": [1]},
        "c": [{"k": [1]}, {"k": [1]}],
    }


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3", "f:3:1: a: duplicate key; it already stands in line 1"),
        ("a: {b: 1, b: 2}", "f:1:11: a.b: duplicate key; it already stands in line 1"),
        ("a: !!python/object:os.system x", "f:1:4: a: YAML tag 'tag:yaml.org,2002:python/object:os.system' is refused"),
        ("a: ! x", "f:1:4: a: YAML tag '!' is refused"),
        ("!t {a: 1}", "f:1:1: YAML tag '!t' is refused"),
        ("!!str a: 1", "f:1:1: YAML tag 'tag:yaml.org,2002:str' is refused"),
        ("a: &x {b: 1}\nc:\n  <<: *x", "f:3:3: c: merge keys ('<<') are not part of YAML 1.2; write the keys out"),
        ("[a]: 1", "f:1:1: a key must be text"),
        ("a: *x", "f:1:4: a: alias *x has no anchor before it"),
        ("a: &x [*x]", "f:1:8: a.0: alias *x contains itself"),
        (BOMB, "f:5:29: e.7: more than 100,000 values, aliases expanded; not read further"),
        ("[" * 500 + "]" * 500, "f:1:42: nested deeper than 40 levels"),
        ("[" * 1_000_000, "f:1:1001: not YAML: exceeded maximum nesting depth"),
        ("a: 1\n---\nb: 1", "f:2:1: a second document begins here; one file holds one"),
        ("a: 007", "f:1:4: a: 007 reads differently in different tools; drop the leading zero or put it in quotes"),
        ("", "f:1:1: the file is empty"),
        ("# nothing", "f:1:1: the file is empty"),
        ("a: 'b", "f:1:6: not YAML: found unexpected end of stream while scanning a quoted scalar"),
        ("a:\n\t- b", "f:2:1: not YAML: found character that cannot start any token; indent with blanks, not tabs"),
        ("a: b\x07c", "f:1:1: not YAML: unacceptable character #x0007"),
        ("x" * 4_000_001, "f: longer than 4,000,000 characters; not read"),
        ("a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> other\n", "f:2:1: merge conflict markers; resolve"),
    ],
    ids=lambda value: value[:30],
)
def test_what_is_refused(text: str, said: str) -> None:
    assert refused(text)[0].startswith(said)


def test_several_faults_are_told_at_once() -> None:
    assert [line.split(" ")[0] for line in refused("a: 007\nb: !x 1\nb: .inf\n")] == [
        "f:1:4:",
        "f:2:4:",
        "f:3:1:",
        "f:3:4:",
    ]


def test_an_octothorpe_without_blank_behind_is_noted() -> None:
    document = read("a: ticket #5\nb: fine # comment\nc: 'x' #5\nd: x #\n", "f")
    assert document.comments == {("a",): "#5"}


@given(st.text(max_size=80))
def test_any_text_is_a_document_or_a_spec_error(text: str) -> None:
    try:
        read(text, "f")
    except SpecError as error:
        assert error.problems


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab:#'\"\\ \né", max_size=6)
)


@given(
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab: #", max_size=4), inner, max_size=3),
        max_leaves=10,
    )
)
def test_json_is_read_as_the_same_value(data: object) -> None:
    assert value(read(json.dumps(data), "f").root) == data
