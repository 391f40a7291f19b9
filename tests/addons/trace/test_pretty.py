"""Layout for review."""

from flowproof_addons.trace.model import JsonValue
from flowproof_addons.trace.pretty import Lines, pretty


def test_what_fits_stays_on_a_line_and_the_rest_is_one_member_a_line() -> None:
    short: JsonValue = {"role": "user", "content": "hi"}
    long: JsonValue = {"role": "user", "content": "x" * 100}
    assert pretty({"model": "m" * 60, "messages": [short, long], "empty": []}) == (
        "{\n"
        f'  "model": "{"m" * 60}",\n'
        '  "messages": [\n'
        '    { "role": "user", "content": "hi" },\n'
        "    {\n"
        '      "role": "user",\n'
        f'      "content": "{"x" * 100}"\n'
        "    }\n"
        "  ],\n"
        '  "empty": []\n'
        "}"
    )


def test_what_nobody_reviews_is_one_item_a_line() -> None:
    items = Lines([{"data": {"text": "x" * 130}}, ["a\u200b", 1.5]])
    assert pretty({"frames": items}) == (
        '{\n  "frames": [\n    {"data":{"text":"' + "x" * 130 + '"}},\n    ["a\\u200b",1.5]\n  ]\n}'
    )


def test_letters_of_any_script_are_readable() -> None:
    assert pretty(["日本語", "é", "🙂"]) == '["日本語", "é", "🙂"]'


def test_what_a_reviewer_cannot_see_is_escaped() -> None:
    hidden = "a\u202eb\u200bc\u2028d\u0085e\u00adf\ufeffg"
    assert pretty([hidden]) == '["a\\u202eb\\u200bc\\u2028d\\u0085e\\u00adf\\ufeffg"]'


def test_a_character_beyond_the_basic_plane_is_escaped_as_a_pair() -> None:
    assert pretty("\U000e0041") == '"\\udb40\\udc41"'
