"""What must hold of judging any run by any contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.evidence.model import (
    AnyEvent,
    Concluded,
    Confirmed,
    Decided,
    Denied,
    Dispatched,
    Evidence,
    Returned,
    Told,
)
from flowproof_runner.expectations.contract.evaluate import evaluate, judge
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect
from flowproof_runner.expectations.contract.model import Contract
from flowproof_runner.findings import Finding

TOOLS = ("a", "b", "c")

small: st.SearchStrategy[JsonValue] = st.integers(0, 2) | st.sampled_from(["x", "y"]) | st.none() | st.booleans()
objects: st.SearchStrategy[JsonValue] = st.dictionaries(st.sampled_from(["id", "n", "t"]), small, max_size=3).map(
    lambda value: dict(value)
)


def rows(values: Sequence[JsonValue]) -> JsonValue:
    return {"rows": list(values)}


results: st.SearchStrategy[JsonValue] = objects | st.lists(objects, max_size=3).map(rows)

LINES: dict[str, list[object]] = {
    "calls": [
        "a at least once",
        "b never",
        "b never where id equals 1",
        "a at most once",
        "exactly 1 of a, b where n equals 1",
        "at most 3 calls",
        "c required when out.id exists",
        "c when out.n equals 1",
        "a as many as out.rows",
        "a as many as b.rows",
        "b never when c.n equals 1",
        "b never when count(a.args.id) < 2",
        "a at most once when not (b.id equals 1)",
        "a at most once when c.id equals latest(b.id)",
        "b requested at most once",
        "at least 1 and at most 2 of a when b.id exists",
    ],
    "order": [
        "a before b",
        "first a before b",
        "every a before b",
        "a then b then c",
        "a before every c per id",
        "a before b per id, n",
        "first a before b per id",
        "every a before every c per n",
    ],
    "args": [
        "a where id equals 1",
        "a where id equals b.id",
        "a where id in b.rows[n = $n].id",
        "a where id equals b.rows[id = $id and n > 0].id or n is absent",
        "b where not (id equals 1 or id equals a.id)",
        "c where id equals latest(a.id)",
        "c where id equals every(a[id = $id].n)",
        "a distinct id",
        "call 2 of a where id exists",
        {"tool": "c", "schema": {"type": "object", "required": ["id"]}},
        {"tool": "c", "where": "n equals 1", "when": "id equals 1"},
        {"tool": "c", "where": "n equals 1", "when": "out.n equals 1"},
        "a where n equals out.n",
    ],
    "each": [
        {
            "for": "a.rows as r",
            "expect": ["exactly 1 of b, c where id equals r.id", "c where id equals r.id when r.n equals 1"],
        },
        {"for": "a.args.id as r", "expect": ["at most 1 b where id equals r"]},
        {"for": "latest(a.rows) as r", "expect": ["b never where id equals r.id"]},
        {"for": "first(a.rows) as r", "expect": ["b never where id equals r.id"]},
        {"for": "distinct(all(a.rows[].id)) as r", "expect": ["b never where id equals r"]},
        {"for": "a.rows[n > every(b.n)] as r", "expect": ["b never where id equals r.id"]},
        {"for": "a.rows as r", "expect": ["b never where id equals r.id when count(c.args.id) < 1"]},
        {"for": "a.rows as r", "expect": [{"tool": "b", "where": "n equals r.n or id is absent"}]},
    ],
    "holds": [
        "a.args.id same set as b.args.id",
        "sum(a.args.n) equals out.n",
        "count(a.rows) < 3",
        "max(all(b.n)) >= 1",
    ],
    "confirm": [
        "b needs confirmation",
        "b needs confirmation with same arguments",
        "b needs c approved",
        "c needs adapter approved",
        "b needs c approved answering id equals 1",
        "a needs prompt 1",
    ],
    "outcome": [
        {"status": "completed"},
        {"where": "out.id equals a.id"},
        {"schema": {"type": "object"}},
        {"when": "out.n exists", "where": "out.n equals 1"},
    ],
    "budget": ["at most 2 calls", "at most 0 turns, 5s"],
}


@st.composite
def contracts(draw: st.DrawFn) -> Contract:
    sections: dict[str, object] = {
        name: draw(st.lists(st.sampled_from(lines), max_size=3, unique_by=str)) for name, lines in LINES.items()
    }
    contract, complaints = compile_expect(Expect.model_validate(sections), TOOLS)
    assert complaints == ()
    return contract


ALONE = [(name, line) for name, lines in LINES.items() for line in lines]


@st.composite
def single(draw: st.DrawFn) -> Contract:
    """One expectation: they are judged one by one, and alone each is met more often."""
    name, line = draw(st.sampled_from(ALONE))
    contract, complaints = compile_expect(Expect.model_validate({name: [line]}), TOOLS)
    assert complaints == ()
    return contract


@st.composite
def adapter_runs(draw: st.DrawFn) -> Evidence:
    events: list[AnyEvent] = []
    for number in range(draw(st.integers(0, 7))):
        tool, arguments, seq = draw(st.sampled_from(TOOLS)), draw(objects), len(events)
        if draw(st.integers(0, 3)) == 0:
            events.append(
                Confirmed(
                    seq=seq,
                    lane="adapter",
                    call=None,
                    tool=tool,
                    arguments=draw(st.none() | objects),
                    granted=draw(st.booleans()),
                )
            )
            continue
        id = f"c{number}"
        events.append(
            Decided(
                seq=seq,
                lane="adapter",
                call=id,
                tool=tool,
                arguments=arguments,
                arguments_text="",
                thread="",
                group=seq,
            )
        )
        if draw(st.integers(0, 5)) == 0:
            events.append(Denied(seq=seq + 1, lane="adapter", call=id, tool=tool, arguments=arguments, reason="r"))
            continue
        events.append(Dispatched(seq=seq + 1, lane="adapter", call=id, tool=tool, arguments=arguments))
        error = draw(st.integers(0, 4)) == 0
        events.append(Returned(seq=seq + 2, lane="adapter", call=id, tool=tool, result=draw(results), is_error=error))
    if draw(st.integers(0, 3)):
        events.append(Concluded(seq=len(events), lane="adapter", status="completed", output=draw(results)))
    return Evidence(tuple(events), frozenset({"adapter"}))


@st.composite
def model_runs(draw: st.DrawFn) -> Evidence:
    events: list[AnyEvent] = []
    known: list[str] = []
    for turn in range(draw(st.integers(0, 4))):
        batch = draw(st.lists(st.tuples(st.sampled_from(TOOLS), objects, results), max_size=3))
        for number, (tool, arguments, _) in enumerate(batch):
            events.append(
                Decided(
                    seq=len(events),
                    lane="model",
                    call=f"m{turn}.{number}",
                    tool=tool,
                    arguments=arguments,
                    arguments_text="",
                    thread="t",
                    group=turn,
                    known=tuple(known),
                )
            )
        for number, (tool, _, result) in enumerate(batch):
            events.append(Told(seq=len(events), lane="model", call=f"m{turn}.{number}", tool=tool, result=result))
            known.append(f"m{turn}.{number}")
    return Evidence(tuple(events))


runs = adapter_runs() | model_runs()
often = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def facts(findings: tuple[Finding, ...]) -> list[tuple[object, ...]]:
    """Findings without their words; that a call came too early and that it came alone are one fact until the end."""
    rows = ((f.id.removesuffix("_missing"), f.severity, f.where, f.path, f.seq) for f in findings)
    return sorted(rows, key=repr)


@given(contracts(), runs)
@often
def test_judging_is_repeatable_and_never_fails(contract: Contract, run: Evidence) -> None:
    judgement = judge(contract, run)
    assert judge(contract, run) == judgement
    assert len(judgement.exercised) == len(contract.expectations)


@given(single(), runs, st.floats(0, 1))
@settings(often, max_examples=400)
def test_what_a_beginning_proves_the_whole_run_shows_too(contract: Contract, run: Evidence, cut: float) -> None:
    """Ends before or after a whole call, as a crash does: nothing found then may be taken back by what follows."""
    ends = [n for n, e in enumerate(run.events) if isinstance(e, Decided | Confirmed | Concluded)] + [len(run.events)]
    end = ends[round(cut * (len(ends) - 1))]
    beginning = replace(run, events=run.events[:end], complete=False)
    proved = facts(evaluate(contract, beginning))
    shown = facts(evaluate(contract, run))
    for fact in proved:
        assert fact in shown


@given(contracts(), runs)
@often
def test_the_ids_of_calls_mean_nothing(contract: Contract, run: Evidence) -> None:
    def renamed(event: AnyEvent) -> AnyEvent:
        if isinstance(event, Decided | Dispatched):
            event = replace(event, known=tuple(f"{id}!" for id in event.known))
        if isinstance(event, Decided | Dispatched | Denied | Returned | Told):
            return replace(event, call=f"{event.call}!")
        return event

    other = replace(run, events=tuple(map(renamed, run.events)))
    assert evaluate(contract, other) == evaluate(contract, run)


@given(runs)
@often
def test_looking_a_value_up_and_comparing_it_with_each_are_the_same(run: Evidence) -> None:
    """The first form of each pair is answered from an index, the second by going through everything."""
    pairs = [
        ("args", "a where id equals b.rows[id = $n].id", "a where id equals b.rows[$n = item.id].id"),
        ("args", "a where id equals b[id = $n].n", "a where id equals b[$n = args.id].n"),
        ("args", "a where id equals b.id", "a where id equals any(b.id, b.id)"),
        ("calls", "at most 1 of a, b where id equals c.id", "at most 1 of a, b where id equals any(c.id, c.id)"),
        (
            "calls",
            "at most 1 of a, b where id equals c.rows[n = $n].id",
            "at most 1 of a, b where id equals any(c.rows[n = $n].id, c.rows[n = $n].id)",
        ),
        ("calls", "at most 1 of a, b where id equals out.id", "at most 1 of a, b where out.id equals $id"),
    ]
    for section, quick, slow in pairs:
        found = []
        for text in (quick, slow):
            contract, complaints = compile_expect(Expect.model_validate({section: [text]}), TOOLS)
            assert complaints == ()
            found.append(facts(evaluate(contract, run)))
        assert found[0] == found[1]
