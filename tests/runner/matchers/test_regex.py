"""Patterns are checked when the spec is read."""

import pytest

from flowproof_runner.matchers.regex import PatternError, compiled


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
        r"(a|a)*b",
        r"(a|aa)+$",
        r"(\w|\d)*x",
        r"(a+a)*b",
        r"(ab|a|b)*c",
        r"(a?b?)*c",
        r"(?i)(a|A)*b",
        r"(\u4e2d|中)*x",
        r"(?=(a+)+b)x",
        r"(?:x|(?:a{1,30}){2,})",
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
    ],
)
def test_two_ways_to_repeat_over_one_text_are_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="two ways to repeat"):
        compiled(pattern)


@pytest.mark.parametrize("pattern", [r"\d+\d+x", r".*.*=", r"\s*\s+$", r"\d*,?\d*,?\d*x", r"(c+){3}", r"(a+)\1+"])
def test_repetitions_of_the_same_characters_side_by_side_are_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="side by side"):
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
        r"(a|ab)*c",
        r"(?:x(?:y+)z)*",
        "",
        r"a{}b{,3}(c+d){3}",
        r"a{1,2",
        r"\d+\.?\d*",
        r".*foo.*bar",
        r"\w+@\w+\.\w+",
        r"(\w+\s)*\w+",
        r"[A-Za-z_]\w*",
        r'"(?:[^"\\]|\\.)*"',
        r"(?:\d{1,3}\.){3}\d{1,3}",
        r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        r"(?<=x)\d+(?!y)(?#note)",
        r"(?P<quote>['\"])\w+(?P=quote)",
        r"(x)?(?(1)a|b)\1",
        r"(?i:a)\x41\0\N{DIGIT ONE}",
    ],
)
def test_ordinary_patterns_pass(pattern: str) -> None:
    assert compiled(pattern).pattern == pattern


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(PatternError, match="too large"):
        compiled(f"(?:{'|'.join(f'{n:03}' for n in range(60))})*")
    with pytest.raises(PatternError, match="flag x"):
        compiled("(?x) a b")


@pytest.mark.parametrize("pattern", ["(", "[a", "*a", "a**", "(?P<x", "a)", "(" * 200 + ")" * 199])
def test_a_broken_pattern_says_why(pattern: str) -> None:
    with pytest.raises(PatternError, match="bad regular expression"):
        compiled(pattern)
