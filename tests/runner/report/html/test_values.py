from flowproof_runner.report.html import values


def test_json_is_tinted_and_its_text_unchanged() -> None:
    made = values.value({"a": ["x: y", 1.5, None], "b": True})
    assert '<span class="key">&quot;a&quot;</span>' in made
    assert '<span class="str">&quot;x: y&quot;</span>' in made
    assert '<span class="num">1.5</span>' in made and '<span class="num">null</span>' in made


def test_a_text_is_shown_without_quotes() -> None:
    assert values.value("plain <words>") == '<pre class="text">plain &lt;words&gt;</pre>'
    assert values.value("  ") == '<p class="muted">(empty)</p>'


def test_what_is_left_out_is_said() -> None:
    made = values.text("x" * (values.LONGEST + 1234))
    assert "x" * values.LONGEST in made and "x" * (values.LONGEST + 1) not in made
    assert "… 1,234 more characters" in made


def test_a_block_that_scrolls_can_be_reached_by_keyboard() -> None:
    assert 'tabindex="0"' in values.text("\n" * 30 + "x")
    assert "tabindex" not in values.text("short")
