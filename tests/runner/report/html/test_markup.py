from hypothesis import given
from hypothesis import strategies as st

from flowproof_runner.report.html.markup import Markup, el, escape, join


def test_text_is_escaped_and_elements_are_not() -> None:
    assert el("p", "a < b & c", el("b", 'say "no"')) == "<p>a &lt; b &amp; c<b>say &quot;no&quot;</b></p>"


def test_attributes_are_quoted_and_left_out_where_there_is_nothing_to_say() -> None:
    made = el("a", "x", href='"><script>', cls="link", aria_label="it", hidden=True, open=False, id=None)
    assert made == '<a href="&quot;&gt;&lt;script&gt;" class="link" aria-label="it" hidden>x</a>'


def test_formatting_markup_makes_it_text_again() -> None:
    assert el("p", f"{el('b', 'x')}") == "<p>&lt;b&gt;x&lt;/b&gt;</p>"


def test_children_may_be_nested_and_nothing_is_nothing() -> None:
    assert el("ul", [el("li", "1"), None, [el("li", "2")]], None) == "<ul><li>1</li><li>2</li></ul>"
    assert join(", ", ["a", None, "", el("b", "c")]) == "a, <b>c</b>"


def test_a_void_element_has_no_end() -> None:
    assert el("br") == "<br>"


def test_what_a_browser_would_obey_or_swallow_is_shown() -> None:
    assert escape("a\u202eb\u0000\ud800\x1b[1m") == "a\\u202eb\\u0000\\ud800\\u001b[1m"
    assert escape("tabs\tand\r\nlines stay") == "tabs\tand\nlines stay"


@given(st.text())
def test_no_text_makes_markup_or_cannot_be_written(text: str) -> None:
    made = escape(text)
    assert isinstance(made, Markup)
    assert not {"<", ">", '"', "'"} & set(made)
    made.encode("utf-8")
