"""`expect:` as people write it: twins, canonical form, everything wrong said with its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from flowproof_runner.contract.of_spec import contract_of
from flowproof_runner.expectations.contract.language.canonical import explain
from flowproof_runner.expectations.contract.language.explain import line
from flowproof_runner.expectations.contract.language.grammar import Expect, compile_expect
from flowproof_runner.expectations.contract.lint import Surroundings, enforceable, lint
from flowproof_runner.expectations.contract.model import AnyExpectation, Contract, Each, Lane
from flowproof_runner.reading.problems import SpecError
from flowproof_runner.spec.file import load

type Build = Callable[..., Contract]


def bare(contract: Contract) -> list[AnyExpectation]:
    return [_bare(each) for each in contract.expectations]


def _bare(expectation: AnyExpectation) -> AnyExpectation:
    if isinstance(expectation, Each):
        return replace(expectation, id="", where="", body=tuple(map(_bare, expectation.body)))
    return replace(expectation, id="", where="")


TWINS: list[tuple[dict[str, object], dict[str, object]]] = [
    ({"calls": ["a"]}, {"calls": [{"calls": ["a"], "kind": "required"}]}),
    ({"calls": ["a at least once"]}, {"calls": [{"calls": ["a"], "at_least": 1}]}),
    ({"calls": ["a never"]}, {"calls": [{"calls": ["a"], "kind": "forbidden"}]}),
    ({"calls": ["at least 1 calls"]}, {"calls": [{}]}),
    ({"calls": ["a requested at most twice"]}, {"calls": [{"calls": ["a"], "at_most": 2, "at": "request"}]}),
    ({"calls": ["a once"]}, {"calls": [{"calls": ["a"], "exactly": 1}]}),
    ({"calls": ["a twice"]}, {"calls": [{"calls": ["a"], "exactly": 2}]}),
    ({"calls": ["a, b never"]}, {"calls": [{"calls": ["a", "b"], "at_most": 0, "kind": "forbidden"}]}),
    (
        {"calls": ["a never requested where x > 3"]},
        {"calls": [{"calls": ["a"], "where": "x > 3", "at_most": 0, "kind": "forbidden", "at": "request"}]},
    ),
    (
        {"calls": ["at least 1 and at most 3 of a, b"]},
        {"calls": [{"calls": ["a", "b"], "at_least": 1, "at_most": 3}]},
    ),
    ({"calls": ["a as many as out.x"]}, {"calls": [{"calls": ["a"], "as_many_as": "out.x"}]}),
    (
        {"calls": ["a when out.x exists"]},
        {"calls": [{"calls": ["a"], "when": "out.x exists", "kind": "required"}]},
    ),
    (
        {"calls": ["a required when out.x exists"]},
        {"calls": [{"calls": ["a"], "when": "out.x exists", "only_when": True, "kind": "required"}]},
    ),
    ({"calls": ["exactly 3 calls"]}, {"calls": [{"exactly": 3}]}),
    ({"budget": {"calls": 3}}, {"calls": ["at most 3 calls"]}),
    ({"order": ["a then b then a"]}, {"order": [{"order": ["a", "b", "a"]}]}),
    ({"order": ["a before b"]}, {"order": [{"before": "a", "after": "b"}]}),
    ({"order": ["first a before b, c"]}, {"order": [{"before": "a", "after": x, "scope": "first"} for x in "bc"]}),
    ({"order": ["every a before b"]}, {"order": [{"before": "a", "after": "b", "scope": "all"}]}),
    (
        {"order": ["a before b per id, x.y"]},
        {"order": [{"before": "a", "after": "b", "per": ["id", "x.y"], "required": False}]},
    ),
    ({"order": ["a before every b per id"]}, {"order": [{"before": "a", "after": "b", "per": ["id"]}]}),
    ({"args": ["a where x equals 1 and y exists"]}, {"args": [{"tool": "a", "where": ["x equals 1", "y exists"]}]}),
    ({"args": ["call 2 of a where x is 1"]}, {"args": [{"tool": "a", "call": 2, "where": "x = 1"}]}),
    ({"args": ["a distinct id, n"]}, {"args": [{"tool": "a", "distinct": ["id", "n"]}]}),
    ({"args": ["a where x is 1 when y is 2"]}, {"args": [{"tool": "a", "where": "x is 1", "when": "y is 2"}]}),
    (
        {"args": ['a where x equals result(b).y and z equals "q"']},
        {"args": [{"tool": "a", "match": {"x": {"from": "b", "path": "y"}, "z": "q"}}]},
    ),
    ({"args": ["a where x equals sum(out.y)"]}, {"args": [{"tool": "a", "match": {"x": {"term": "sum(out.y)"}}}]}),
    ({"args": ['a by schema {"required": ["x"]}']}, {"args": [{"tool": "a", "schema": {"required": ["x"]}}]}),
    (
        {"args": ['a where x is "q" distinct id by schema {"type": "object"} when y exists']},
        {
            "args": [
                {
                    "tool": "a",
                    "match": {"x": "q"},
                    "distinct": ["id"],
                    "schema": {"type": "object"},
                    "when": "y exists",
                }
            ]
        },
    ),
    ({"confirm": ["a needs confirmation"]}, {"confirm": [{"tool": "a"}]}),
    (
        {"confirm": ["a needs ask with same arguments answering decision equals go"]},
        {"confirm": [{"tool": "a", "by": "ask", "same_arguments": True, "approves": 'result.decision equals "go"'}]},
    ),
    (
        {"confirm": ["a, b needs ask approved with same arguments"]},
        {"confirm": [{"tool": x, "by": "ask", "same_arguments": True} for x in "ab"]},
    ),
    ({"confirm": ["a needs prompt 1"]}, {"confirm": [{"tool": "a", "prompt": 1}]}),
    (
        {"confirm": ["a needs prompt 2 or 3 until prompt 4 where amount < 100"]},
        {"confirm": [{"tool": "a", "prompt": [2, 3], "until": 4, "where": "amount < 100"}]},
    ),
    ({"confirm": ["a needs prompt approved"]}, {"confirm": [{"tool": "a", "by": "prompt"}]}),
    ({"holds": ["out.a equals 1 when out.b exists"]}, {"holds": [{"holds": "out.a equals 1", "when": "out.b exists"}]}),
    ({"outcome": {"match": {"a": "x"}}}, {"outcome": [{"where": 'out.a equals "x"'}]}),
    ({"outcome": "status completed"}, {"outcome": {"status": "completed"}}),
    ({"outcome": ["status is done when out.n > 0"]}, {"outcome": [{"status": "done", "when": "out.n > 0"}]}),
    ({"outcome": ["out.a equals 1 when out.b exists"]}, {"outcome": [{"where": "out.a is 1", "when": "out.b exists"}]}),
    ({"outcome": ['schema {"type": "object"}']}, {"outcome": [{"schema": {"type": "object"}}]}),
    (
        {"budget": "at most 20 calls, 12 turns, 20k tokens, 5s"},
        {"budget": {"calls": 20, "turns": 12, "tokens": "20k", "duration": "5s"}},
    ),
    ({"budget": "at most 250ms"}, {"budget": {"duration_ms": 250}}),
    ({"mcp": ["web answers within 100ms"]}, {"mcp": {"server": "web", "call": "100ms"}}),
    (
        {"mcp": ["every server answers 95% within 1s, at most 64KiB, without errors"]},
        {"mcp": {"call": "1s", "share": "95%", "result": "64KiB", "errors": True}},
    ),
    ({"mcp": ["web never fails"]}, {"mcp": [{"server": "web", "errors": True}]}),
    (
        {"each": [{"for": "out.x as o", "expect": ["a where id equals o.id"]}]},
        {"each": [{"for": "out.x as o", "expect": [{"calls": ["a"], "where": "id equals o.id", "kind": "required"}]}]},
    ),
]


@pytest.mark.parametrize(("prose", "structured"), TWINS, ids=[str(next(iter(row[0].values()))) for row in TWINS])
def test_prose_and_its_structured_twin_are_one(
    prose: dict[str, object], structured: dict[str, object], contract: Build
) -> None:
    built = contract(**prose)
    assert bare(built) == bare(contract(**structured))
    assert bare(contract(**explain(built))) == bare(built)
    assert all(line(expectation) for expectation in built.expectations)


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ({"calls": ["a at least"]}, "expected a whole number"),
        ({"calls": ["a as many as 3"]}, "for a fixed number write"),
        ({"calls": ["a never ever"]}, "this was not expected"),
        ({"calls": ["a exactly 2 required when out.x exists"]}, "leave the number out"),
        ({"calls": ["a required"]}, "expected 'required when CONDITION'"),
        ({"calls": [{"calls": ["a"], "exactly": 1, "at_most": 2}]}, "exactly stands alone"),
        ({"calls": ["a at least 0 times"]}, "demands nothing"),
        ({"calls": [{"calls": ["a"], "at_least": 0}]}, "demands nothing"),
        ({"order": ["a b"]}, "expected 'A before B'"),
        ({"args": ["a distinct x[].y"]}, "expected a plain argument path"),
        ({"args": ["call 0 of a where x is 1"]}, "counted from 1"),
        ({"args": ["a with x"]}, "expected 'TOOL where CONDITION'"),
        ({"args": [{"tool": "a", "schema": {"type": "odd"}}]}, "not a JSON Schema"),
        ({"confirm": ["a asks"]}, "expected 'TOOL needs ASKER approved"),
        ({"confirm": ["a needs prompt 0"]}, "counted from 1"),
        ({"confirm": ["a needs prompt 2 with same arguments"]}, "say which calls it approves"),
        ({"confirm": [{"tool": "a", "prompt": 2, "by": "ask"}]}, "prompt stands without by"),
        ({"confirm": [{"tool": "a", "until": 2}]}, "belong to prompt"),
        ({"holds": ["amount equals 3"]}, "known names here are"),
        ({"each": [{"for": "out.x", "expect": ["a"]}]}, "expected 'COLLECTION as NAME'"),
        ({"each": [{"for": "out.x as a", "expect": ["a"]}]}, "already means something else"),
        ({"each": [{"for": "out.x as out", "expect": ["a"]}]}, "already means something else"),
        ({"calls": [{"calls": ["a"], "only_when": True}]}, "needs the condition"),
        ({"calls": [{"calls": ["a"], "only_when": True, "when": "out.x exists", "exactly": 2}]}, "leave the numbers"),
        ({"calls": [{"calls": ["a"], "kind": "forbidden", "at_least": 2}]}, "means never"),
        ({"calls": [{"calls": ["a"], "kind": "required", "at_most": 2}]}, "means once or more"),
        ({"calls": [{"calls": ["a"], "as_many_as": "out.x", "at_least": 2}]}, "stands alone"),
        ({"order": [{"before": "a", "after": "b", "required": False}]}, "belongs to per"),
        ({"args": [{"tool": "a", "match": {}}]}, "anything fits"),
        ({"args": ['a by schema {"type": "odd"}']}, "not a JSON Schema"),
        ({"args": ["a by schema type"]}, "a JSON value should stand here"),
        ({"confirm": [{"tool": "a", "approves": "ok = true"}]}, "a tool that asks"),
        ({"outcome": {"when": "out.x exists"}}, "demands nothing"),
        ({"outcome": "status"}, "expected 'status completed'"),
        ({"budget": "12 turns"}, "expected 'at most 12 turns"),
        ({"budget": "at most twelve turns"}, "no quantity"),
        ({"budget": "at most 5 minutes"}, "no duration"),
        ({"budget": "at most 5 turns, 6 turns"}, "bounded twice"),
        ({"mcp": "web keeps quiet"}, "expected 'SERVER answers within"),
        ({"mcp": "web answers 120% within 1s"}, "no percentage"),
        ({"mcp": "web answers at most 64"}, "no size"),
        ({"mcp": {"share": 95}}, "share needs the time"),
        ({"mcp": {"server": "web"}}, "demands nothing"),
        ({"each": [{"for": "out.x as i", "expect": ["b where i equals i.id"]}]}, "write $i for the argument"),
    ],
)
def test_what_cannot_be_read_is_said(sections: dict[str, object], problem: str) -> None:
    _, complaints = compile_expect(Expect.model_validate(sections))
    assert len(complaints) == 1
    assert problem in complaints[0].message
    assert complaints[0].at[0] in sections


@pytest.mark.parametrize(
    "sections",
    [
        {"call": ["a"]},
        {"calls": [{"call": ["a"]}]},
        {"calls": [3]},
        {"order": [{"before": "a"}]},
        {"budget": {"duration": "5"}},
        {"each": [{"for": "out.x as x", "expect": []}]},
        {"each": [{"for": "out.x as x", "expect": [{"tool": "a", "odd": 1}]}]},
        {"mcp": [{"servr": "a"}]},
        {"holds": [{"holds": []}]},
        {"budget": {"tokens": "20q"}},
    ],
)
def test_unknown_keys_and_wrong_types_are_refused(sections: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Expect.model_validate(sections)


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ({"calls": ["a", "a never"]}, "a is also forbidden"),
        ({"calls": ["exactly 2 of a", "a at most once"]}, "must be called 2 times and may be called 1 times"),
        ({"calls": ["at least 3 and at most 2 of a"]}, "asks for more than it allows"),
        ({"order": ["a before b", "b before c", "c before d", "d before a"]}, "closes a circle"),
        ({"holds": ["out.a equals out.a"]}, "compares a value with itself"),
        ({"holds": ['out.a matches "("']}, "is no regular expression"),
        ({"holds": ['out.a < "x"']}, "needs a number"),
        ({"calls": ['a when "x" equals "x"']}, "reads nothing of the run"),
        ({"outcome": [{"status": "a"}, {"status": "b"}]}, "another expectation wants status 'a'"),
        ({"args": [{"tool": "a"}]}, "demands nothing"),
        ({"budget": {}}, "bounds nothing"),
        ({"calls": ["at most 3 calls", "at least 4 calls"]}, "at least 4 calls are demanded"),
        ({"calls": ["at least 3 of a, b", "a at most once", "b at most once"]}, "may be called 2 times in all"),
        ({"order": ["a then b", "b then a"], "calls": ["exactly 1 of a", "exactly 1 of b"]}, "closes a circle"),
        (
            {
                "order": ["c then a", "a before b", "b before c"],
                "calls": ["exactly 1 of a", "exactly 1 of c"],
            },
            "closes a circle",
        ),
        ({"calls": ["a when $id exists"]}, "here no call is"),
        ({"calls": ["a as many as $ids"]}, "here no call is"),
        ({"holds": ["$id equals 3"]}, "here no call is"),
        ({"outcome": "out.id equals $id"}, "here no call is"),
        ({"each": [{"for": "$ids as i", "expect": ["a where id equals i"]}]}, "here no call is"),
        ({"confirm": [{"tool": "a", "by": "ask", "approves": "ok equals $ok"}]}, "here no call is"),
        ({"confirm": ["a needs a approved"]}, "its own approval"),
        ({"confirm": ["a needs ask approved"], "calls": ["ask never"]}, "never answers"),
        ({"args": ['a where x equals "1"', 'a where y exists and x equals "2"']}, "must be '1' elsewhere"),
        ({"outcome": [{"match": {"a": 1}}, {"match": {"a": 2}}]}, "must be 1 elsewhere"),
        (
            {"each": [{"for": "out.x as o", "expect": ["at least 2 and at most 1 of a where id equals o.id"]}]},
            "asks for",
        ),
        (
            {"calls": ["b never"], "each": [{"for": "result(b).x as o", "expect": ["a where id equals o.id"]}]},
            "never answers",
        ),
    ],
)
def test_contradictions_are_found_at_load(sections: dict[str, object], problem: str, contract: Build) -> None:
    found = lint(contract(**sections))
    assert any(problem in each.message for each in found), found
    assert {each.kind for each in found} == {"problem"}


def test_a_sound_contract_is_not_complained_about(contract: Build) -> None:
    built = contract(
        ("list",),
        calls=["list", "pay at most twice", "wipe never", "at most 9 calls"],
        order=["list before pay", "list then pay", "look before pay per id"],
        args=["pay distinct id", "call 2 of pay where id in list.x[].id", "pay where id equals any($n, list.id)"],
        confirm=["pay needs confirmation"],
    )
    assert lint(built) == ()
    assert enforceable(built) is None


@pytest.mark.parametrize(
    ("sections", "around", "problem"),
    [
        ({"calls": ["a at least once"]}, Surroundings(answered=[]), "a must be called, but no fixture answers it"),
        ({"args": ["a where x equals result(b).y"]}, Surroundings(answered=["a"]), "no fixture answers b"),
        (
            {"args": ["a where x equals result(b).y[z < sum(result(c).n)].y"]},
            Surroundings(answered=["a", "b"]),
            "no fixture answers c",
        ),
        ({"order": ["b before a"]}, Surroundings(answered=["a"]), "no fixture answers b"),
        ({"confirm": ["a needs ask approved"]}, Surroundings(answered=["a"]), "no fixture answers ask"),
        ({"confirm": ["a needs prompt 3"]}, Surroundings(prompts=2), "there is no prompt 3"),
        ({"confirm": ["a needs adapter approved"]}, Surroundings(adapter=False), "there is no adapter"),
        ({"confirm": ["a needs elicitation approved"]}, Surroundings(servers=[]), "there is no server that could ask"),
        ({"mcp": "wbe never fails"}, Surroundings(servers=["web"]), "wbe is no server under mcp; declared: web"),
    ],
)
def test_what_the_surroundings_can_never_give_is_found_at_load(
    sections: dict[str, object], around: Surroundings, problem: str, contract: Build
) -> None:
    built = contract(**sections)
    assert [problem in each.message for each in lint(built, around)] == [True]
    everything = Surroundings(answered=["a", "b", "c", "ask"], prompts=3, servers=["web", "wbe"], adapter=True)
    assert lint(built, everything) == ()
    assert lint(built, Surroundings(prompts=3)) == ()


def test_enforcing_nothing_is_said(contract: Build) -> None:
    assert "nothing to enforce" in str(enforceable(contract(calls=["a"])))
    both = contract(calls=["a never"], confirm=["a needs confirmation"])
    assert "forbidden anyway" in str(enforceable(both))


SPEC = """\
name: A flow
app: agent
agent: { adapter: [x] }
tools: [{ name: list, result: {} }]
mcp:
  - name: web
    command: x
    tools: [{ name: add, result: 1 }]
    limits: { call: 100ms, result: 64KiB }
    snapshot: web.json
steps: [{ prompt: go }]
expect:
  calls:
    - list at least once
    - EXTRA
"""


def write(folder: Path, extra: str, snapshot: str = '{"tools": [], "capabilities": {}}') -> Path:
    (folder / "web.json").write_text(snapshot)
    path = folder / "a.flow.yaml"
    path.write_text(SPEC.replace("EXTRA", extra))
    return path


def test_a_spec_has_a_contract_with_places_and_the_limits_of_its_servers(tmp_path: Path) -> None:
    path = write(tmp_path, "web.add at most once where n equals list.n")
    found = contract_of(load(path))
    assert [(each.id, each.where) for each in found.expectations] == [
        ("calls[0]", f"{path}:14"),
        ("calls[1]", f"{path}:15"),
        ("mcp[0]", f"{path}:6"),
    ]
    assert found.expectations[-1] == Lane(
        id="mcp[0]",
        where=f"{path}:6",
        server="web",
        call_ms=100,
        result_bytes=65536,
        tools=[],
        capabilities={},
    )


@pytest.mark.parametrize(
    ("extra", "snapshot", "problem"),
    [
        ("list never", "[]", ":14:7: expect.calls.0: list is also forbidden"),
        ("add at last once", "[]", ":15:11: expect.calls.1: this was not expected"),
        ("add where n equals lst.n", "[]", "expect.calls.1: no tool or variable of this name"),
        ("add", "3", ":10:15: mcp.0.snapshot: is no snapshot"),
        ("add", "{", ":10:15: mcp.0.snapshot: cannot be read"),
    ],
)
def test_everything_wrong_with_it_has_a_line_and_a_column(
    tmp_path: Path, extra: str, snapshot: str, problem: str
) -> None:
    with pytest.raises(SpecError) as raised:
        contract_of(load(write(tmp_path, extra, snapshot)))
    assert problem in str(raised.value)


ENFORCING = """\
name: A flow
app: agent
agent: {{ {agent} }}
{rest}
steps: [{{ prompt: go }}, {{ assert: reply is ok }}{step}]
"""
NO_WAY = "enforce: refuses nothing: a call can be refused on its way to a server under mcp: or from an adapter"
NO_BAN = "enforce: `forbidden` refuses nothing: no line under expect: calls: says what is called `never`"
NO_APPROVAL = "enforce: `confirmation` refuses nothing: no line under expect: confirm: says what needs one"
ADAPTER, COMMAND = "adapter: [x]", "command: x"
SERVER = "mcp: [{ name: web, command: x }]"
BAN, SUCH = "expect: { calls: [wipe never] }", "expect: { calls: [wipe never where all is true] }"
APPROVAL = "expect: { confirm: [pay needs confirmation] }"
STEP = ", { assert_no_tool_call: wipe }"


@pytest.mark.parametrize(
    ("agent", "lines", "step", "problem"),
    [
        (COMMAND, ["enforce: forbidden", BAN], "", NO_WAY),
        (COMMAND, ["enforce: forbidden", SERVER], "", NO_BAN),
        (COMMAND, ["enforce: forbidden", SERVER, SUCH], "", NO_BAN),
        (COMMAND, ["enforce: forbidden", SERVER, BAN], "", None),
        (COMMAND, ["enforce: forbidden", SERVER], STEP, None),
        (COMMAND, ["enforce: confirmation", SERVER, BAN], "", NO_APPROVAL),
        (COMMAND, ["enforce: confirmation", SERVER, APPROVAL], "", None),
        (ADAPTER, ["enforce: forbidden"], STEP, NO_BAN),
        (ADAPTER, ["enforce: forbidden", SUCH], "", None),
        (ADAPTER, ["enforce: [forbidden, confirmation]", BAN], "", NO_APPROVAL),
        (ADAPTER, ["enforce: confirmation", APPROVAL], "", None),
        (COMMAND, ["enforce: observe"], "", None),
    ],
)
def test_what_is_enforced_must_refuse_something(
    tmp_path: Path, agent: str, lines: list[str], step: str, problem: str | None
) -> None:
    path = tmp_path / "a.flow.yaml"
    path.write_text(ENFORCING.format(agent=agent, rest="\n".join(lines), step=step))
    spec = load(path)
    if problem is None:
        assert contract_of(spec) is not None
        return
    with pytest.raises(SpecError) as raised:
        contract_of(spec)
    assert re.search(rf"a\.flow\.yaml:4:\d+: {re.escape(problem)}", str(raised.value))
