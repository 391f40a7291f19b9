"""`flowproof check --explain`: one canonical contract, whichever way it was written; the editor's schema knows both."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from flowproof_runner.entry import run as flowproof
from flowproof_runner.reading.reader import read
from flowproof_runner.reading.scalars import value
from flowproof_runner.spec.schema import schema

HEAD = """\
name: n
app: agent
agent: { command: never run, output: reply json }
tools: [ { name: list, result: {} }, { name: policy, result: {} }, { name: ask, result: {} } ]
mcp: [ { name: web, command: never run } ]
steps: [ { prompt: go } ]
expect:
"""
PROSE = """\
  calls:
    - policy at least once
    - wipe never
    - pay never requested where amount > 1000
    - at least 1 and at most 3 of pay, refuse
    - notify required when out.paid is not empty or out.refused is not empty
    - pay as many as out.paid
  order:
    - policy before pay, refuse
    - look before every pay per id
    - policy then list
  args:
    - pay where id in list.items[amount < policy.limit].id
    - call 2 of pay where amount equals list.items[id = $id].amount when amount exists
    - pay distinct id
    - 'pay by schema {"required": ["id"]}'
  each:
    - for: list.items as x
      expect: [ "exactly 1 of pay, refuse where id equals x.id" ]
  holds:
    - count(pay.args.id) <= count(list.items)
  confirm:
    - pay needs ask approved with same arguments
    - refuse needs prompt 1 where id exists
  outcome:
    - status completed
    - out.total equals sum(pay.args.amount) when out.paid is not empty
  budget: at most 20 calls, 12 turns, 20k tokens, 5s
  mcp: web answers 95% within 100ms, at most 64KiB
"""
STRUCTURED = """\
  calls:
    - { calls: [ policy ] }
    - { calls: [ wipe ], kind: forbidden }
    - { calls: [ pay ], kind: forbidden, at: request, where: amount > 1000 }
    - { calls: [ pay, refuse ], at_least: 1, at_most: 3 }
    - { calls: [ notify ], only_when: true, when: out.paid is not empty or out.refused is not empty }
    - { calls: [ pay ], as_many_as: out.paid }
  order:
    - { before: policy, after: pay }
    - { before: policy, after: refuse }
    - { before: look, after: pay, per: [ id ] }
    - { order: [ policy, list ] }
  args:
    - { tool: pay, where: "id in list.items[amount < policy.limit].id" }
    - { tool: pay, call: 2, match: { amount: { term: "list.items[id = $id].amount" } }, when: amount exists }
    - { tool: pay, distinct: [ id ] }
    - { tool: pay, schema: { required: [ id ] } }
  each:
    - { for: list.items as x, expect: [ { calls: [ pay, refuse ], exactly: 1, where: id equals x.id } ] }
  holds:
    - { holds: count(pay.args.id) <= count(list.items) }
  confirm:
    - { tool: pay, by: ask, same_arguments: true }
    - { tool: refuse, prompt: 1, where: id exists }
  outcome:
    - { status: completed }
    - { where: out.total equals sum(pay.args.amount), when: out.paid is not empty }
  budget: { calls: 20, turns: 12, tokens: 20k, duration: 5s }
  mcp: { server: web, call: 100ms, share: 95%, result: 64KiB }
"""


def explained(path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    path.write_text(HEAD + text)
    assert flowproof(["check", "--explain", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("  contract:") + 1
    return [line.strip() for line in lines[start:] if line.startswith("    ")]


def test_prose_and_structure_are_explained_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = explained(tmp_path / "a.flow.yaml", PROSE, capsys)
    assert said == explained(tmp_path / "a.flow.yaml", STRUCTURED, capsys)
    assert len(said) == 23
    assert "pay where $id in result(list).items[item.amount < result(policy).limit].id" in said
    assert 'pay by schema {"required": ["id"]}' in said
    assert "at most 12 turns, 20000 tokens, 5000ms" in said
    assert "web answers 95% within 100ms, at most 65536B" in said


@pytest.mark.parametrize("text", [PROSE, STRUCTURED], ids=["prose", "structured"])
def test_the_editors_schema_knows_it(text: str) -> None:
    validator = jsonschema.Draft202012Validator(schema())
    assert [error.message for error in validator.iter_errors(value(read(HEAD + text, "f").root))] == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("wipe never", "wipe nevr", ":10:12: expect.calls.1: this was not expected"),
        ("wipe never", "policy never", ":9:7: expect.calls.0: policy is also forbidden"),
        ("at most 20 calls", "at most 1 calls", "expect.budget: at least 2 calls are demanded elsewhere"),
        ("web answers 95%", "wbe answers 95%", "expect.mcp: wbe is no server under mcp; declared: web"),
        ("distinct id", "where id equals lst.id", "no tool or variable of this name is known here"),
        ("{ tool: pay, distinct: [ id ] }", "{ tool: pay, distnct: [ id ] }", "did you mean 'distinct'?"),
        ("only_when: true, when:", "only_when: true, where:", "only_when needs the condition"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    old: str, new: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.flow.yaml"
    path.write_text(HEAD + (PROSE if old in PROSE else STRUCTURED).replace(old, new, 1))
    assert flowproof(["check", str(path)]) == 2
    told = capsys.readouterr()
    assert said in told.out + told.err
