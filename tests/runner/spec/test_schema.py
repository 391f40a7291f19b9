"""Editors get a schema that knows the whole grammar and refuses what the loader refuses."""

from __future__ import annotations

import jsonschema
import pytest

from flowproof_addons.trace.model import JsonValue
from flowproof_runner.reading.reader import read
from flowproof_runner.reading.scalars import value
from flowproof_runner.spec.schema import schema

GOOD = """\
name: n
app: agent
agent: { command: [a, b], env: { PORT: 8080, DEBUG: true }, timeout: 5m, expect_exit: { any: why }, output: tool x }
tools: [ { name: a, result: { $file: x.json } }, { name: b, cases: [ { where: { x: 1 }, call: 1, result: 2 } ] } ]
mcp: [ { name: s, url: u, tools: [ { name: t, schema: {}, result: 1 } ], limits: { startup: 5s, result: 64KiB } } ]
steps:
- prompt: 5
- assert_tool_call: a where b exists
- assert_tool_call: { tool: a, where: { b: { ">": 5 } }, args: {}, times: 2, at: mcp }
- assert: reply is x
- assert: { reply: { matches: x } }
- assert_no_egress
- assert_no_secret_leak: [ "${A}" ]
- assert_no_side_effect: fs_write
- assert_no_side_effect: { what: fs_write, except: [ "out/**" ] }
enforce: [ forbidden ]
pins: [ { at: a, match: b, why: c }, { kind: date }, { at: a, unordered: true } ]
control: { id: a, title: b }
redact: { keys: [ a ], values: [ "${B}" ] }
expect:
  strict: true
  calls: [ a at least once, { calls: [ a, b ], exactly: 1, when: out.x exists } ]
  order: [ a then b, { before: a, after: b, per: [ id ] }, { order: [ a, b ] } ]
  args: [ { tool: a, call: 2, where: x is 1, match: { y: { from: b, path: z } }, schema: { type: object } } ]
  each: [ { for: b.list as x, expect: [ a where id equals x.id, { tool: a, distinct: [ id ] } ] } ]
  holds: [ { holds: [ out.x exists ] } ]
  confirm: [ { tool: a, prompt: 1 } ]
  outcome: { status: completed, where: out.n equals 1 }
  budget: { turns: 12, tokens: 20k, duration: 5s }
  mcp: [ s answers within 100ms, { server: s, call: 100ms, share: 95%, result: 64KiB } ]
"""


def errors(text: str) -> list[str]:
    validator = jsonschema.Draft202012Validator(schema())
    return [error.json_path for error in validator.iter_errors(value(read(text, "f").root))]


def test_it_is_a_schema_and_a_full_spec_fits() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert errors(GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("name: n", "nme: n", "$"),
        ("app: agent", "app: web", "$.app"),
        ("timeout: 5m", "timeot: 5m", "$.agent"),
        ("- assert_no_egress", "- assert_no_egres", "$.steps[5]"),
        ("- prompt: 5", "- promt: x", "$.steps[0]"),
        ("- prompt: 5", "- { prompt: x, assert: reply is x }", "$.steps[0]"),
        ("times: 2", "times: 0", "$.steps[2]"),
        ("call: 1", "call: 0", "$.tools[1].cases[0].call"),
        ("kind: date", "kind: time", "$.pins[1].kind"),
        ("strict: true", "strct: true", "$.expect"),
        ("exactly: 1", "exactly: -1", "$.expect.calls[1]"),
        ("after: b", "afetr: b", "$.expect.order[1]"),
        ("call: 2,", "call: 0,", "$.expect.args[0]"),
        ("expect: [ a where", "expct: [ a where", "$.expect.each[0]"),
        ("turns: 12", "turns: twelve", "$.expect.budget"),
    ],
)
def test_it_refuses_what_is_misspelt(old: str, new: str, path: str) -> None:
    assert any(found.startswith(path) for found in errors(GOOD.replace(old, new, 1)))


def test_every_key_says_what_it_is_for() -> None:
    silent = [f"{name}.{key}" for name, part in _parts(schema()) for key in _silent(part)]
    assert silent == []


def _parts(whole: dict[str, JsonValue]) -> list[tuple[str, JsonValue]]:
    definitions = whole["$defs"]
    assert isinstance(definitions, dict)
    return [("Spec", whole), *((name, part) for name, part in definitions.items())]


def _silent(part: JsonValue) -> list[str]:
    properties = part.get("properties", {}) if isinstance(part, dict) else {}
    assert isinstance(properties, dict)
    return [key for key, entry in properties.items() if not (isinstance(entry, dict) and "description" in entry)]
