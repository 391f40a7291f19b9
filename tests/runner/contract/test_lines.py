"""The canonical line of an expectation reads back as it: nothing is abbreviated, nothing left out."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.expectations.contract.language.canonical import SECTIONS, structured
from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect, read_line
from flowproof_runner.expectations.contract.language.names import Names
from flowproof_runner.expectations.contract.language.syntax import parse_formula
from flowproof_runner.expectations.contract.model import (
    AnyExpectation,
    Arguments,
    Budget,
    Calls,
    Confirmation,
    Holds,
    Lane,
    Order,
    Outcome,
    Precedence,
)
from flowproof_runner.expectations.contract.terms import Formula, Ref, Scope

NAMES = Names(frozenset({"list", "srv.get"}))

tool = st.sampled_from(["pay", "srv.get", "never", "calls", "odd name", "at", "with, comma", "then", "prompt", "a/b"])
tools = st.lists(tool, min_size=1, max_size=2, unique=True).map(tuple)
paths = st.lists(st.sampled_from([("id",), ("a", "b")]), min_size=1, max_size=2, unique=True).map(tuple)
few = st.integers(0, 3)
schemas: st.SearchStrategy[JsonValue] = st.sampled_from(
    [{"type": "object"}, {"required": ["where", "when"], "properties": {"a b": {"const": "x when y"}}}]
)


def conditions(bare: Scope | None) -> st.SearchStrategy[Formula]:
    own = {"call": "id", "result": "ok", None: "out.n"}[bare if bare in ("call", "result") else None]
    texts = [
        f"{own} equals 1",
        f'{own} equals "x when y"',
        f"{own} equals json(5) and not ({own} is absent or {own} in [1, text])",
        "out.list is not empty",
        f"{own} in result(list).items[id = out.id and n < 3].n",
        "count(out.list) >= sum(args(pay).amount)",
    ]
    return st.sampled_from([parse_formula(text, NAMES, bare) for text in texts])


def maybe[T](strategy: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.none() | strategy


@st.composite
def counted(draw: st.DrawFn) -> Calls:
    such, when = draw(maybe(conditions("call"))), draw(maybe(conditions(None)))
    at = draw(st.sampled_from(["call", "request"]))
    named = draw(tools)
    match draw(st.sampled_from(["never", "as many", "required when", "bounds"])):
        case "never":
            return Calls(tools=named, such=such, when=when, at=at, at_most=0, kind="forbidden")  # type: ignore[arg-type]
        case "as many":
            return Calls(tools=named, such=such, when=when, at=at, as_many_as=Ref("out", ("n",)))  # type: ignore[arg-type]
        case "required when":
            condition = draw(conditions(None))
            return Calls(tools=named, such=such, at_least=1, when=condition, only_when=True, at=at, kind="required")  # type: ignore[arg-type]
        case _:
            named = draw(tools | st.just(()))
            some = st.integers(1, 3)
            least, most = draw(st.tuples(few, few) | st.tuples(some, st.none()) | st.tuples(st.none(), few))
            kind = "required" if named and (least, most) == (1, None) else "count"
            return Calls(tools=named, such=such, at_least=least, at_most=most, when=when, at=at, kind=kind)  # type: ignore[arg-type]


@st.composite
def carried(draw: st.DrawFn) -> Arguments:
    found = Arguments(
        tool=draw(tool),
        call=draw(maybe(few)),
        such=draw(maybe(conditions("call"))),
        schema=draw(maybe(schemas)),
        distinct=draw(paths | st.just(())),
        when=draw(maybe(conditions("call"))),
    )
    demands = found.such is not None or found.schema is not None or found.distinct
    return found if demands else Arguments(tool=found.tool, distinct=(("id",),), when=found.when)


@st.composite
def preceded(draw: st.DrawFn) -> Precedence:
    per = draw(paths | st.just(()))
    scope = draw(st.sampled_from(["informed", "first", "all"]))
    required = draw(st.booleans()) or not per
    return Precedence(before=draw(tool), after=draw(tool), scope=scope, per=per, required=required)  # type: ignore[arg-type]


expectations: st.SearchStrategy[AnyExpectation] = st.one_of(
    counted(),
    carried(),
    preceded(),
    st.builds(Order, tools=st.lists(tool, min_size=2, max_size=3).map(tuple)),
    st.builds(Confirmation, tool=tool, by=st.sampled_from(["any", "adapter", "elicitation"]), bound=st.booleans()),
    st.builds(Confirmation, tool=tool, by=tool, bound=st.booleans(), approves=maybe(conditions("result"))),
    st.builds(
        Confirmation,
        tool=tool,
        by=st.just("prompt"),
        prompts=st.lists(st.integers(1, 3), min_size=1, max_size=2).map(tuple),
        until=maybe(st.integers(1, 3)),
        such=maybe(conditions("call")),
    ),
    st.builds(Outcome, status=st.sampled_from(["done", "two words", "when"]), when=maybe(conditions(None))),
    st.builds(Outcome, such=conditions(None), when=maybe(conditions(None))),
    st.builds(Outcome, schema=schemas, when=maybe(conditions(None))),
    st.builds(Budget, turns=few, tokens=maybe(few), duration_ms=maybe(st.sampled_from([5.0, 0.25, 60000.0]))),
    st.builds(
        Lane,
        server=st.sampled_from(["", "web", "odd name"]),
        call_ms=st.sampled_from([100.0, 0.5]),
        share=maybe(st.sampled_from([95.0, 99.5])),
        result_bytes=maybe(few),
        errors=st.booleans(),
    ),
    st.builds(Holds, such=conditions(None), when=maybe(conditions(None))),
)


@given(expectations)
@settings(max_examples=400, deadline=None)
def test_a_line_says_all_there_is_to_an_expectation(expectation: AnyExpectation) -> None:
    text = line(expectation)
    assert read_line(text, SECTIONS[type(expectation)], NAMES) == (expectation,), text


@given(expectations)
@settings(max_examples=400, deadline=None)
def test_so_does_its_structured_twin(expectation: AnyExpectation) -> None:
    twin = {SECTIONS[type(expectation)]: [structured(expectation)]}
    contract, complaints = compile_expect(Expect.model_validate(twin), NAMES.tools)
    assert complaints == ()
    [found] = contract.expectations
    assert type(found).__name__ == type(expectation).__name__
    assert line(found) == line(expectation), twin
