"""The assertion grammar: what it reads, and where its errors point."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.ast import CallAssertion, Clause, ReplyAssertion
from flowproof_runner.expectations.words import clause_words
from flowproof_runner.matchers.matchers import (
    Absent,
    Compares,
    Contains,
    Equals,
    Exists,
    In,
    Matcher,
    Matches,
    Not,
    operand,
)
from flowproof_runner.matchers.path import Path, parse
from flowproof_runner.spec import prose
from flowproof_runner.spec.tokens import ProseError


def clause(path: str, matcher: Matcher) -> Clause:
    return Clause(parse(path), matcher)


def equals(value: JsonValue) -> Equals:
    return Equals(operand(value))


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("x equals KQ311", [clause("x", equals("KQ311"))]),
        ("x is KQ311", [clause("x", equals("KQ311"))]),
        ("x equals 5", [clause("x", equals(5))]),
        ('x equals "5"', [clause("x", equals("5"))]),
        ("x is true and y is null", [clause("x", equals(True)), clause("y", equals(None))]),
        ("x equals New York and y.0 exists", [clause("x", equals("New York")), clause("y.0", Exists())]),
        ('x equals "a and b" and y is absent', [clause("x", equals("a and b")), clause("y", Absent())]),
        (r'x equals "say \"and\" \\ \d"', [clause("x", equals('say "and" \\ \\d'))]),
        ("x is missing", [clause("x", Absent())]),
        ("x is missing a wheel", [clause("x", equals("missing a wheel"))]),
        ("x equals missing", [clause("x", equals("missing"))]),
        ("x is not absent", [clause("x", Not(Absent()))]),
        ("x is not approved", [clause("x", Not(equals("approved")))]),
        ("x not equals 5", [clause("x", Not(equals(5)))]),
        ("x not exists", [clause("x", Not(Exists()))]),
        ("x not in [a, 2]", [clause("x", Not(In((operand("a"), operand(2)))))]),
        ('x in [ a b , "c, ]" ]', [clause("x", In((operand("a b"), operand("c, ]"))))]),
        ("x is in [a]", [clause("x", In((operand("a"),)))]),
        ("x contains android", [clause("x", Contains(operand("android")))]),
        ("x < 5", [clause("x", Compares("<", operand(5)))]),
        ("x >=-0.5", [clause("x", Compares(">=", operand(-0.5)))]),
        (r"x matches ^[0-9]+[A-F]$", [clause("x", Matches(re.compile("^[0-9]+[A-F]$")))]),
        (r'x matches "a and \\d"', [clause("x", Matches(re.compile(r"a and \d")))]),
        ('"a and b"."x.y" exists', [Clause(Path(("a and b", "x.y")), Exists())]),
        ("result.is_error is true", [Clause(Path(), equals(True), "is_error")]),
        ("result.id exists", [Clause(Path(("id",)), Exists(), "result")]),
        ("result contains ok", [Clause(Path(), Contains(operand("ok")), "result")]),
        ('"result".id exists', [Clause(Path(("result", "id")), Exists())]),
        ('result."is_error" exists', [Clause(Path(), Exists(), "is_error")]),
        ("resultant exists", [clause("resultant", Exists())]),
        ("  x   exists\n and\ty exists ", [clause("x", Exists()), clause("y", Exists())]),
    ],
)
def test_clauses(text: str, clauses: list[Clause]) -> None:
    assert prose.clauses(text) == tuple(clauses)


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("", 0, "expected a tool name"),
        ("búsqueda", 1, "letters, digits"),
        ("search, where x exists", 6, "letters, digits"),
        ("search whose x exists", 7, "expected 'where' after the tool, found 'whose'"),
        ("search where", 12, "a clause is missing here"),
        ("search where x", 14, "a matcher is missing here"),
        ("search where x equal 5", 15, "'equal' is no matcher; accepted after a path: equals|is VALUE"),
        ("search where x equals", 21, "a value is missing here"),
        ("search where x equals and y exists", 22, "a value is missing here"),
        ("search where x exists y", 22, "expected 'and' or the end, found 'y'"),
        ("search where x exists 5 and y exists", 22, "found '5'"),
        ('search where x equals "a" b', 26, "expected 'and' or the end"),
        ('search where x equals "a', 22, "never closed"),
        ("search where x < five", 17, "'five' is no number"),
        ("search where x < true", 17, "'true' is no number"),
        ("search where x in a, b", 18, "expected '['"),
        ("search where x in [a, b", 22, "never closed"),
        ("search where x in [a,, b]", 21, "element is missing"),
        ("search where x matches (", 23, "bad regular expression"),
        ("search where x matches (a+)+", 23, "for ever"),
        ("search where x[0] exists", 13, "items.0.name"),
        ("search where x..y exists", 15, "segment is missing"),
        ("search where note contains bread and butter", 43, "put that value in double quotes"),
        ("search where x not", 18, "a matcher is missing"),
    ],
)
def test_errors_point_at_the_column(text: str, column: int, says: str) -> None:
    with pytest.raises(ProseError) as caught:
        prose.call(text, "call")
    assert (caught.value.column, says in str(caught.value), str(caught.value)) == (column, True, str(caught.value))


@pytest.mark.parametrize("tool", ["search_flights", "fs.delete", "fs/delete", "mcp__fs__delete", "a-b:c.D/1"])
def test_tool_names(tool: str) -> None:
    assert prose.call(f" {tool} ", "no_call") == CallAssertion("no_call", tool)


@pytest.mark.parametrize(
    ("text", "matcher"),
    [
        ("reply contains booked and paid", Contains(operand("booked and paid"))),
        ("reply is booked", Contains(operand("booked"))),
        ("reply equals 5", Equals(operand("5"))),
        ('reply equals "a \\" b"', Equals(operand('a " b'))),
        ('reply contains the "best" one', Contains(operand('the "best" one'))),
        ("reply matches ^B-[0-9]+ and", Matches(re.compile("^B-[0-9]+ and"))),
        ("reply not contains refund", Not(Contains(operand("refund")))),
        ("reply is not refund", Not(Contains(operand("refund")))),
    ],
)
def test_reply(text: str, matcher: Matcher) -> None:
    assert prose.reply(text) == ReplyAssertion(matcher)


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("answer contains x", 0, "expected 'reply'"),
        ("reply", 5, "a matcher is missing"),
        ("reply exists", 6, "'exists' is no matcher of the reply; accepted: reply contains|is TEXT"),
        ("reply contains", 14, "a text is missing"),
        ('reply contains ""', 17, "a text is missing"),
        ('reply contains "a" b', 19, "after the closing quote"),
        ("reply matches [", 14, "bad regular expression"),
    ],
)
def test_reply_errors(text: str, column: int, says: str) -> None:
    with pytest.raises(ProseError) as caught:
        prose.reply(text)
    assert (caught.value.column, says in str(caught.value), str(caught.value)) == (column, True, str(caught.value))


texts = st.text(st.sampled_from("ab 5\".,[]\\ndotris'#:"), max_size=12) | st.sampled_from(
    ["not x", "in [a]", "absent", "missing", "and", "a and b", "5", "true", "null", " x", "", "1.10", '"', "\\"]
)
numbers = st.integers(-99, 99) | st.sampled_from([0.5, 1.5e10])
operands = (texts | numbers | st.booleans() | st.none()).map(operand)
matchers = st.recursive(
    st.one_of(
        st.builds(Equals, operands),
        st.builds(Contains, operands),
        texts.map(lambda text: Matches(re.compile(re.escape(text)))),
        st.just(Exists()),
        st.just(Absent()),
        st.builds(Compares, st.sampled_from(["<", "<=", ">", ">="]), numbers.map(operand)),
        st.builds(In, st.lists(operands, min_size=1, max_size=3).map(tuple)),
    ),
    lambda inner: st.builds(Not, inner),
    max_leaves=3,
)
paths = st.lists(texts | st.integers(0, 9), min_size=1, max_size=3).map(lambda parts: Path(tuple(parts)))
clause_sets = st.lists(
    st.builds(Clause, paths, matchers, st.sampled_from(["arguments", "result"]))
    | matchers.map(lambda matcher: Clause(Path(), matcher, "is_error")),
    min_size=1,
    max_size=3,
).filter(lambda found: all(c.path.segments != ("is_error",) or c.subject == "arguments" for c in found))


@given(clause_sets)
def test_what_a_report_prints_reads_back_as_the_same_clauses(clauses: list[Clause]) -> None:
    text = " and ".join(clause_words(each) for each in clauses)
    assert prose.clauses(text) == tuple(clauses)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_within_its_columns(text: str) -> None:
    for read in (lambda: prose.call(text, "call"), lambda: prose.reply(text), lambda: prose.clauses(text)):
        try:
            read()
        except ProseError as error:
            assert 0 <= error.column <= len(text)
