"""Patterns are checked when the spec is read."""

import pytest

from flowproof_runner.expectations.regex import PatternError, compiled


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+",
        r"(a*)*",
        r"(?:\w*\s?)*$",
        r"((a+))*",
        r"(a|b+)*",
        r"(a+|b)*",
        r"(?P<x>a+){2,}",
        r"(?i)(?:[^]\]]+)*",
        "(a+)+?",
    ],
)
def test_a_repetition_of_a_repetition_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="for ever"):
        compiled(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(\d+,)*\d+",
        r"a+b*",
        r"([A-Z]{2}\d+)?",
        r"(a+)?",
        r"\(a+\)+",
        r"[(a+)]+",
        r"(a|b)*",
        r"(?:x(?:y+)z)*",
        "",
        r"a{}b{,3}(c+){3}",
    ],
)
def test_ordinary_patterns_pass(pattern: str) -> None:
    assert compiled(pattern).pattern == pattern


@pytest.mark.parametrize("pattern", ["(", "[a", "*a", "a**", "(?P<x", "a)", "(" * 200 + ")" * 199])
def test_a_broken_pattern_says_why(pattern: str) -> None:
    with pytest.raises(PatternError, match="bad regular expression"):
        compiled(pattern)
