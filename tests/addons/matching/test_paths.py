"""The path language of pins."""

import pytest

from flowproof_addons.matching.paths import PathError, Wild, parse, rewrite, written
from flowproof_addons.trace.model import JsonValue

VALUE: JsonValue = {
    "messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": [{"text": "b"}, {"text": "c"}]}],
    "metadata": {"user.id": "d", "0": "e"},
    "id": {"id": "f"},
}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("messages[0].content", ["messages[0].content"]),
        ("messages[*].content", ["messages[0].content", "messages[1].content"]),
        ("messages[*].content[*].text", ["messages[1].content[0].text", "messages[1].content[1].text"]),
        ("messages[-1].role", ["messages[1].role"]),
        ('metadata."user.id"', ['metadata."user.id"']),
        ('metadata["user.id"]', ['metadata."user.id"']),
        ('metadata."0"', ["metadata.0"]),
        ("metadata[0]", []),
        ("metadata.*", ['metadata."user.id"', "metadata.0"]),
        ("**.id", ["id", "id.id"]),
        ("**.text", ["messages[1].content[0].text", "messages[1].content[1].text"]),
        ("messages.**.text", ["messages[1].content[0].text", "messages[1].content[1].text"]),
        ("$.id.id", ["id.id"]),
        ("nothing.here", []),
        ("", [""]),
    ],
)
def test_a_path_leads_to_its_places(text: str, places: list[str]) -> None:
    path = parse(text)
    assert [written(place) for place, _ in path.find(VALUE)] == places
    assert all(path.matches(place) for place, _ in path.find(VALUE) if "messages[-1]" not in text)


@pytest.mark.parametrize("text", ["messages[*].content", '"a.b"[0]', "**.id", "a.*.b", "a[-1]", "**", '"$x".y'])
def test_a_path_is_written_as_it_is_read(text: str) -> None:
    assert str(parse(text)) == text
    assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize(
    ("text", "column"), [("a..b", 2), ("a[", 2), ("a]", 2), ("a.", 2), (".a", 1), ("[x]", 1), ("a[0]b", 5), ('a."b', 3)]
)
def test_what_is_no_path_is_told_with_its_column(text: str, column: int) -> None:
    with pytest.raises(PathError, match=f"column {column}$"):
        parse(text)


def shout(value: JsonValue) -> JsonValue:
    return value.upper() if isinstance(value, str) else value


@pytest.mark.parametrize(
    "text", ["messages[*].content", "messages[*].content[*].text", "**", "**.id", "metadata.*", "messages[-1].**"]
)
def test_rewriting_changes_exactly_the_places_found(text: str) -> None:
    path = parse(text)
    new = rewrite(VALUE, path.steps, shout)
    changed = {place for place, found in path.find(VALUE) if isinstance(found, str)}
    for place, leaf in parse("**").find(VALUE):
        if isinstance(leaf, str):
            (found,) = (value for where, value in parse("**").find(new) if where == place)
            assert found == (leaf.upper() if place in changed else leaf), place


def test_what_does_not_change_is_shared() -> None:
    new = rewrite(VALUE, (Wild.ANY, "id"), shout)
    assert isinstance(new, dict) and isinstance(VALUE, dict)
    assert new["messages"] is VALUE["messages"]
    assert rewrite(VALUE, ("messages", Wild.ITEM, "none"), shout) is VALUE
