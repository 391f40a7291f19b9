"""Text to terms and back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.printing import show_formula
from flowproof_runner.expectations.contract.language.scanner import SyntaxProblem
from flowproof_runner.expectations.contract.language.syntax import parse_formula
from flowproof_runner.expectations.contract.terms import (
    UNARY,
    Aggregate,
    AllOf,
    AnyOf,
    Arguments,
    Choose,
    Compare,
    Filter,
    Formula,
    Literal,
    Not,
    Ref,
    Results,
    Successor,
    Term,
    Union,
    Wildcard,
)

NAMES = Names(frozenset({"list_pending", "get_policy", "finance.get", "srv__tool"}), frozenset({"x"}))

json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9, width=16) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
segments = st.integers(0, 9) | st.sampled_from(["id", "a-b", "amount", "a.b", "it", "out", "with blank", "9"])
tools = st.sampled_from(["list_pending", "get_policy", "finance.get", "srv__tool", "a/b:c", "odd name", "x"])
operators = st.sampled_from(["equals", "<", ">=", "in", "contains", "includes", "matches", "same set as"])
literals = st.builds(Literal, json_values)
loose = st.builds(Literal, st.integers(-9, 9) | st.booleans() | st.none(), st.just(True))


def terms(formulas: st.SearchStrategy[Formula]) -> st.SearchStrategy[Term]:
    plain = st.lists(segments, max_size=3).map(tuple)
    paths = st.lists(segments | st.just(Wildcard()) | st.builds(Filter, formulas), max_size=3).map(tuple)
    refs = st.sampled_from(["call", "out", "item"]).flatmap(lambda scope: st.builds(Ref, st.just(scope), plain))
    base = (
        literals
        | refs.filter(lambda ref: ref.scope != "item")
        | st.builds(Ref, st.just("each"), plain, st.just("x"))
        | st.builds(Results, tools, paths, st.none() | st.integers(0, 3))
        | st.builds(Arguments, tools, paths, st.none() | formulas)
    )
    return st.recursive(
        base,
        lambda inner: (
            st.builds(Aggregate, st.sampled_from(["count", "sum", "min", "max", "avg", "distinct"]), inner)
            | st.builds(Choose, st.sampled_from(["first", "latest", "every", "one"]), inner)
            | st.builds(Successor, inner, st.lists(json_values, min_size=1, max_size=3).map(tuple), st.integers(-2, 2))
            | st.lists(inner, min_size=2, max_size=2).map(lambda two: Union(tuple(two)))
        ),
        max_leaves=3,
    )


@st.composite
def comparisons(draw: st.DrawFn, inner: st.SearchStrategy[Formula]) -> Compare:
    left = draw(terms(inner))
    operator = draw(operators | st.sampled_from(sorted(UNARY)))
    right = None if operator in UNARY else draw(terms(inner) | loose)
    return Compare(left, operator, right, draw(st.booleans()))  # type: ignore[arg-type]


leaf_formulas = st.builds(
    Compare, st.builds(Ref, st.just("out"), st.just(("a",))), st.just("equals"), st.just(Literal(1)), st.just(False)
)
formulas: st.SearchStrategy[Formula] = st.recursive(
    leaf_formulas,
    lambda inner: (
        comparisons(inner)
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: AllOf(tuple(parts)))
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: AnyOf(tuple(parts)))
        | st.builds(Not, inner)
    ),
    max_leaves=6,
)


@given(formulas)
@settings(max_examples=300, deadline=None)
def test_what_is_printed_reads_back_as_the_same_formula(formula: Formula) -> None:
    text = show_formula(formula)
    assert parse_formula(text, Names(variables=frozenset({"x"})), "call") == formula, text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("amount equals 120", "$amount equals 120"),
        ("amount is not 120", "$amount not equals 120"),
        ("flight.id equals KQ311 and p.0.name exists", '$flight.id equals "KQ311" and $p[0].name exists'),
        ("note equals on the road", '$note equals "on the road"'),
        ("id in [A, B]", '$id in ["A", "B"]'),
        ("amount at least 3 or amount is absent", "$amount >= 3 or $amount is absent"),
        (
            "amount equals list_pending.expenses[id = $id].amount",
            "$amount equals result(list_pending).expenses[item.id equals $id].amount",
        ),
        ("id in finance.get[result.ok = true].id", "$id in result(finance.get)[result.ok equals true].id"),
        ("id in list_pending[0].it[].id", "$id in result(list_pending)[0][].id"),
        ("total equals sum(all(get_policy.lines[].n))", "$total equals sum(all(result(get_policy).lines[].n))"),
        ("id in list_pending.args.id", "$id in args(list_pending).id"),
        ("id equals any(x.id, out.id)", "$id equals any(x.id, out.id)"),
        ('"out".id equals 1', "$out.id equals 1"),
    ],
)  # fmt: skip
def test_a_short_form_has_one_canonical_form(text: str, canonical: str) -> None:
    assert show_formula(parse_formula(text, NAMES, "call")) == canonical


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("amount equals get_polcy.limit", "no tool or variable of this name is known here"),
        ("amount eq 3", "expected a comparison"),
        ("amount equals", "expected a value"),
        ("amount equals foo(3)", "'foo' is no function"),
        ("(amount equals 3", "expected ')'"),
        ("amount equals a.b@c.example", "put it in double quotes"),
        ("a..b equals 3", "empty segment"),
        ("amount equals after(out.x, 3)", "the order is a list"),
        ("amount equals all(out.x)", "all() collects"),
        ('amount equals "x" y', "this was not expected"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, problem: str) -> None:
    with pytest.raises(SyntaxProblem, match=problem.replace("(", r"\(").replace(")", r"\)")):
        parse_formula(text, NAMES, "call")


def test_a_dotted_word_with_two_candidate_tools_is_refused() -> None:
    names = Names(frozenset({"finance", "finance.get"}))
    with pytest.raises(SyntaxProblem, match=r"both 'finance' and 'finance.get' are tools"):
        parse_formula("a equals finance.get.limit", names, "call")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "id equals 1" + ")" * 5000,
        "not " * 5000 + "id equals 1",
        "id equals " + "sum(" * 5000 + "out.n" + ")" * 5000,
        "id equals " + "[" * 5000 + "1" + "]" * 5000,
        "id in out.x" + "[y in out.x" * 5000 + "]" * 5000,
        "id equals get_policy" + "[n in get_policy" * 5000 + "]" * 5000,
        "id equals json(" + "[" * 100_000 + "]" * 100_000 + ")",
    ],
    ids=["brackets", "negations", "functions", "lists", "filters", "selectors", "json"],
)
def test_what_is_nested_without_end_is_refused(text: str) -> None:
    with pytest.raises(SyntaxProblem, match=r"inside one another|a JSON value"):
        parse_formula(text, NAMES, "call")


def test_what_a_reader_could_still_follow_is_read() -> None:
    text = "(" * 20 + "id equals sum(max(min(out.a)))" + ")" * 20
    assert show_formula(parse_formula(text, NAMES, "call")) == "$id equals sum(max(min(out.a)))"
    assert show_formula(parse_formula(" and ".join(["id equals 1"] * 500), NAMES, "call")).count("$id") == 500
